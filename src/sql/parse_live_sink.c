/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_sink.c - CREATE SINK … INTO ICEBERG CATALOG | KAFKA.
 *
 * The clauses behind the connection come in any order, each once.  The name may be left out: that is the planner's error ("unspecified name for sink"), not ours. */
#include "sql/parse_live_int.h"

enum { SEEN_KEY = 1, SEEN_MODE = 2, SEEN_ENVELOPE = 4, SEEN_WITH = 8, SEEN_PARTITION = 16, SEEN_ORDER = 32, SEEN_AWS = 64, SEEN_HEADERS = 128 };

static void into(Parser *p, LiveStmt *l)
{
    p_need(p, K_INTO);
    if (lp_take(p, "ICEBERG CATALOG CONNECTION")) {
        l->type = S("iceberg catalog");
        p_name(p, &l->connection);
        lp_options(p, LIVE_OPT_SINK_ICEBERG, &l->options);
        return;
    }
    lp_need(p, "KAFKA CONNECTION");
    l->type = S("kafka");
    p_name(p, &l->connection);
    lp_options(p, LIVE_OPT_SINK_KAFKA, &l->options);
}

static bool once(Parser *p, int *seen, int bit, const char *words)
{
    if (!lp_is(p, words))
        return false;
    if (*seen & bit)
        p_syntax(p);
    *seen |= bit;
    return lp_take(p, words);
}

static void mode(Parser *p, LiveStmt *l)
{
    if (lp_take(p, "UPSERT"))
        l->mode = S("upsert");
    else if (lp_take(p, "APPEND"))
        l->mode = S("append");
    else
        p_syntax(p);
}

static bool clause(Parser *p, LiveStmt *l, int *seen)
{
    if (!lp_is(p, "KEY FORMAT") && once(p, seen, SEEN_KEY, "KEY")) {
        l->has_key = 1;
        p_ident_list(p, &l->key);
        l->not_enforced = lp_take(p, "NOT ENFORCED");
    } else if (once(p, seen, SEEN_MODE, "MODE")) {
        mode(p, l);
    } else if (once(p, seen, SEEN_PARTITION, "PARTITION BY")) {
        p_partition_fields(p, &l->partitions);
    } else if (once(p, seen, SEEN_ORDER, "ORDER BY")) {
        p_need_op(p, '(');
        p_order_items(p, &l->order);
        p_need_op(p, ')');
    } else if (once(p, seen, SEEN_AWS, "USING AWS CONNECTION")) {
        p_name(p, &l->aws_connection);
    } else if (once(p, seen, SEEN_HEADERS, "HEADERS")) {
        vec_push(p->a, &l->headers, p_ident(p));
    } else if (once(p, seen, SEEN_ENVELOPE, "ENVELOPE")) {
        lp_envelope(p, l);
    } else if (once(p, seen, SEEN_WITH, "WITH")) {
        lp_options(p, LIVE_OPT_SINK, &l->with);
    } else {
        return lp_format(p, l);
    }
    return true;
}

void lp_create_sink(Parser *p, Stmt *s)
{
    int seen = 0;

    p_if_not_exists(p, s);
    if (!lp_is(p, "IN CLUSTER") && !p_is(p, K_FROM))
        p_stmt_name(p, s);
    lp_in_cluster(p, s->live);
    p_need(p, K_FROM);
    p_name(p, &s->live->from);
    into(p, s->live);
    while (!p->status && clause(p, s->live, &seen))
        ;
}
