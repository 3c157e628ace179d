/* SPDX-License-Identifier: Apache-2.0 */
/* live_later.c - statements whose files are not there yet: whoever brings one takes its line from here. */
#include "service/live_sql.h"

#define LATER(function, what) \
    Status function(Run *r UNUSED, Rows *rows UNUSED, LiveDone *ret UNUSED, Error *err) { return FAIL(err, E_UNSUPPORTED, what " not yet supported"); }

LATER(live_create_sink, "CREATE SINK")
LATER(live_alter_sink, "ALTER SINK")

Status live_alter_options(Run *r UNUSED, Object *o UNUSED, Error *err) { return FAIL(err, E_UNSUPPORTED, "SET and RESET of options not yet supported"); }
Status live_apply_replacement(Run *r UNUSED, Object *o UNUSED, Error *err) { return FAIL(err, E_UNSUPPORTED, "APPLY REPLACEMENT not yet supported"); }
