/* SPDX-License-Identifier: Apache-2.0 */
/* reset.h - everything emptied but the root account (configuration key test.reset). */
#ifndef FIRN_SERVICE_RESET_H
#define FIRN_SERVICE_RESET_H

#include "service/service.h"

NODISCARD Status service_reset(Service *s, Error *err);

#endif
