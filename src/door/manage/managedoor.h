/* SPDX-License-Identifier: Apache-2.0 */
/* managedoor.h - the manage door: /healthz, /readyz, /metrics (Prometheus text), POST /reset when tests may, /api/events, and POST /api/webhook/….
 * Needs no credentials but for /api/events; webhooks are guarded by their CHECK: nothing else here tells names or data. */
#ifndef FIRN_MANAGEDOOR_H
#define FIRN_MANAGEDOOR_H

#include "net/net.h"
#include "service/service.h"

typedef struct ManageDoor ManageDoor;
typedef struct ManageOptions { Str addr; int port; Service *service; int reset; } ManageOptions;
NODISCARD Status manage_open(const ManageOptions *o, ManageDoor **ret, Error *err);
int manage_port(const ManageDoor *d);
void manage_close(ManageDoor *d);                     /* NULL is fine */

#endif
