/* SPDX-License-Identifier: Apache-2.0 */
/* live_hooks.c - what each kind of object does when its life changes: one table, a line a kind. */
#include "live/live.h"
#include "service/live_connection.h"
#include "service/live_sink.h"
#include "service/live_source.h"
#include "service/live_sql.h"

static const LiveHooks nothing;
static const LiveHooks mview = { .drop = live_forget_version, .pause = live_pause_view, .resume = live_resume_view };

const LiveHooks *live_hooks(ObjKind k)
{
    static const LiveHooks *const table[OBJ_KINDS] = {
        [OBJ_MVIEW] = &mview, [OBJ_CONNECTION] = &connection_hooks, [OBJ_SOURCE] = &source_hooks, [OBJ_SINK] = &sink_hooks, [OBJ_TABLE] = &source_table_hooks,
    };
    return table[k] ? table[k] : &nothing;
}
