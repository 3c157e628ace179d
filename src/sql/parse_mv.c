/* SPDX-License-Identifier: Apache-2.0 */
/* parse_mv.c - materialized views: CREATE [OR REPLACE] [MANAGED], REFRESH, ALTER (glue.md 2.1).
 *
 * The clauses of CREATE come in any order, each at most once, all before AS. */
#include "sql/parse_live_int.h"

enum { EVERY_MAX = 100000 };
enum { SEEN_LOCATION = 1, SEEN_PARTITIONED = 2, SEEN_COMMENT = 4, SEEN_SCHEDULE = 8, SEEN_PROPERTIES = 16, SEEN_USING = 32 };

static bool clause(Parser *p, Stmt *s, int *seen);

Stmt *p_create_mv(Parser *p, Stmt *s)
{
    int seen = 0;

    s->kind = ST_CREATE_MV;
    if (!s->or_replace)
        p_if_not_exists(p, s);
    p_stmt_name(p, s);
    if (p_postgres(p))
        lp_mview_clause(p, s);
    while (clause(p, s, &seen))
        ;
    p_need(p, K_AS);
    p_query_as_text(p, s);
    if (!p_spark(p) && p_take2(p, K_WITH, K_NO))
        P_FAIL(p, E_UNSUPPORTED, p_pos(p), "WITH NO DATA is not supported: a materialized view is filled when it is created");
    return s;
}

/* Two of one clause is an error at the second. */
static bool once(Parser *p, int *seen, int bit, Keyword k)
{
    if (!p_is(p, k))
        return false;
    if (*seen & bit)
        P_FAIL(p, E_INVALID, p_pos(p), "[DUPLICATE_CLAUSES] Found duplicate clauses: %s. Please, remove one of them. SQLSTATE: 42614",
               lex_keyword_name(k));
    *seen |= bit;
    return p_take(p, k);
}

static bool clause(Parser *p, Stmt *s, int *seen)
{
    if (once(p, seen, SEEN_LOCATION, K_LOCATION)) {
        s->location = p_string(p);
    } else if (once(p, seen, SEEN_PARTITIONED, K_PARTITIONED)) {
        p_need(p, K_BY);
        p_partition_fields(p, &s->partitions);
    } else if (once(p, seen, SEEN_COMMENT, K_COMMENT)) {
        p_comment(p, s);
    } else if (once(p, seen, SEEN_SCHEDULE, K_SCHEDULE)) {
        p_schedule(p, &s->schedule);
    } else if (once(p, seen, SEEN_PROPERTIES, K_TBLPROPERTIES)) {
        p_props(p, &s->props);
    } else if (once(p, seen, SEEN_USING, K_USING)) {
        s->provider = p_label(p);
    } else {
        return false;
    }
    return true;
}

/* After SCHEDULE: [REFRESH] EVERY n MINUTE[S]|HOUR[S]|DAY[S]|WEEK[S] */
void p_schedule(Parser *p, Schedule *ret)
{
    static const struct { Keyword one, many; int64_t seconds; } UNITS[] = {
        { K_MINUTE, K_MINUTES, 60 }, { K_HOUR, K_HOURS, 3600 }, { K_DAY, K_DAYS, 86400 }, { K_WEEK, K_WEEKS, 604800 },
    };

    p_take(p, K_REFRESH);
    p_need(p, K_EVERY);
    ret->has = 1;
    ret->position = p_pos(p);
    int64_t n = p_integer(p);
    if (n < 1 || n > EVERY_MAX)
        P_FAIL(p, E_INVALID, ret->position, "a refresh schedule needs an interval between 1 and %d", EVERY_MAX);
    ret->unit_position = p_pos(p);
    if (p_is(p, K_MINUTE) || p_is(p, K_MINUTES))
        ret->minutes = p_peek(p, 0)->text;
    for (size_t i = 0; i < COUNT_OF(UNITS); i++)
        if (p_take(p, UNITS[i].one) || p_take(p, UNITS[i].many)) {
            ret->seconds = n * UNITS[i].seconds;
            return;
        }
    p_syntax(p);
}

/* REFRESH MATERIALIZED VIEW x [FULL] | REFRESH TABLE x */
Stmt *p_refresh(Parser *p)
{
    Stmt *s = s_new(p, ST_REFRESH_MV);

    p_need(p, K_REFRESH);
    if (p_spark(p) && p_is(p, K_TABLE))
        return s_noop(p, S("REFRESH"));
    p_need(p, K_MATERIALIZED);
    p_need(p, K_VIEW);
    if (!p_spark(p) && p_is(p, K_CONCURRENTLY))
        p_next(p);
    p_stmt_name(p, s);
    s->full = p_take(p, K_FULL);
    return s;
}

/* After ALTER MATERIALIZED VIEW: ADD|ALTER SCHEDULE … | DROP SCHEDULE | RENAME TO | SET|UNSET TBLPROPERTIES */
Stmt *p_alter_mv(Parser *p)
{
    Stmt *s = s_new(p, ST_ALTER_MV);

    p_if_exists(p, s);
    p_stmt_name(p, s);
    if (p_postgres(p) && lp_alter_relation(p, s, LK_MVIEW))
        return s;
    if (p_take2(p, K_ADD, K_SCHEDULE) || p_take2(p, K_ALTER, K_SCHEDULE) || p_take2(p, K_SET, K_SCHEDULE)) {
        p_schedule(p, &s->schedule);
        return s;
    }
    if (p_take2(p, K_DROP, K_SCHEDULE)) {
        s->schedule_drop = 1;
        return s;
    }
    if (!p_is(p, K_RENAME) && !p_is2(p, K_SET, K_TBLPROPERTIES) && !p_is2(p, K_UNSET, K_TBLPROPERTIES) && !(p_postgres(p) && p_is2(p, K_OWNER, K_TO)))
        p_syntax(p);
    p_alter_action(p, s);
    if (p_postgres(p))
        lp_alter_noted(p, s, LK_MVIEW);
    return s;
}
