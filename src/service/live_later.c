/* SPDX-License-Identifier: Apache-2.0 */
/* live_later.c - statements whose files are not there yet: whoever brings one takes its line from here. */
#include "service/live_sql.h"

Status live_apply_replacement(Run *r UNUSED, Object *o UNUSED, Error *err) { return FAIL(err, E_UNSUPPORTED, "APPLY REPLACEMENT not yet supported"); }
