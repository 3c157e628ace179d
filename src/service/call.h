/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - the result columns of a CALL, without calling. */
#ifndef FIRN_SERVICE_CALL_H
#define FIRN_SERVICE_CALL_H

#include "service/service.h"

/* E_NOT_FOUND, E_UNSUPPORTED, E_INVALID: no such procedure. */
NODISCARD Status call_describe(Arena *a, const Stmt *st, RowColumns *ret, Error *err);

#endif
