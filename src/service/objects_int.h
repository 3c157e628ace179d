/* SPDX-License-Identifier: Apache-2.0 */
/* objects_int.h - inside of objects: types in documents. */
#ifndef FIRN_OBJECTS_INT_H
#define FIRN_OBJECTS_INT_H

#include "service/objects.h"

Json *object_type_json(Arena *a, const DataType *t);
NODISCARD Status object_type_of(Arena *a, const Json *j, DataType *ret, Error *err);

#endif
