/* SPDX-License-Identifier: Apache-2.0 */
/* parse_alter_iceberg.c - Iceberg's ALTER TABLE extensions: partition fields, write order, branches and tags,
 * identifier fields.  WRITE … also says how rows are spread: kept as the property write.distribution-mode. */
#include "sql/parse_int.h"

static bool partition_action(Parser *p, AlterAction *x);
static bool ref_action(Parser *p, AlterAction *x);
static bool write_action(Parser *p, AlterAction *x);
static bool identifier_action(Parser *p, AlterAction *x);

bool p_alter_iceberg(Parser *p, AlterAction *x)
{
    return partition_action(p, x) || ref_action(p, x) || write_action(p, x) || identifier_action(p, x);
}

/* ---- partition fields -------------------------------------------------------------------------------------------- */

static void partition_alias(Parser *p, AlterAction *x)
{
    Str alias = p_take(p, K_AS) ? p_ident(p) : S("");
    if (x->partitions.n)
        vec_last(&x->partitions).alias = alias;
}

static bool partition_action(Parser *p, AlterAction *x)
{
    if (p_take3(p, K_ADD, K_PARTITION, K_FIELD)) {
        x->kind = AT_ADD_PARTITION;
        p_partition_field(p, &x->partitions);
        partition_alias(p, x);
    } else if (p_take3(p, K_DROP, K_PARTITION, K_FIELD)) {
        x->kind = AT_DROP_PARTITION;
        p_partition_field(p, &x->partitions);
    } else if (p_take3(p, K_REPLACE, K_PARTITION, K_FIELD)) {
        x->kind = AT_REPLACE_PARTITION;
        p_partition_field(p, &x->partitions);
        p_need(p, K_WITH);
        p_partition_field(p, &x->partitions);
        partition_alias(p, x);
    } else {
        return false;
    }
    return true;
}

/* ---- branches and tags ---------------------------------------------------------------------------------------------- */

static int64_t duration_ms(Parser *p, int64_t n)
{
    static const struct { Keyword one, many; int64_t ms; } UNITS[] = {
        { K_DAY, K_DAYS, 86400000 }, { K_HOUR, K_HOURS, 3600000 }, { K_MINUTE, K_MINUTES, 60000 },
    };
    int at = p_pos(p);

    for (size_t i = 0; i < COUNT_OF(UNITS); i++) {
        if (!p_take(p, UNITS[i].one) && !p_take(p, UNITS[i].many))
            continue;
        if (n < 1 || n > INT64_MAX / UNITS[i].ms)
            P_FAIL(p, E_INVALID, at, "the retention %lld is out of range", (long long)n);
        return p->status ? 0 : n * UNITS[i].ms;
    }
    p_syntax(p);
    return 0;
}

/* WITH SNAPSHOT RETENTION n SNAPSHOTS [n DAYS] | n DAYS */
static void snapshot_retention(Parser *p, AlterAction *x)
{
    int64_t n = p_integer(p);

    if (p_take(p, K_SNAPSHOTS)) {
        x->min_snapshots = SOME_I64(n);
        if (!p_is_kind(p, TK_NUMBER))
            return;
        n = p_integer(p);
    }
    x->snapshot_retain_ms = SOME_I64(duration_ms(p, n));
}

static void ref_options(Parser *p, AlterAction *x)
{
    if (p_take3(p, K_AS, K_OF, K_VERSION))
        x->version = SOME_I64(p_integer(p));
    if (p_take(p, K_RETAIN))
        x->retain_ms = SOME_I64(duration_ms(p, p_integer(p)));
    if (str_eq(x->ref_kind, S("branch")) && p_take3(p, K_WITH, K_SNAPSHOT, K_RETENTION))
        snapshot_retention(p, x);
}

static bool ref_kind(Parser *p, size_t ahead) { return p_is_at(p, ahead, K_BRANCH) || p_is_at(p, ahead, K_TAG); }

static void ref_name(Parser *p, AlterAction *x)
{
    x->ref_kind = p_take(p, K_BRANCH) ? S("branch") : S("tag");
    p_take(p, K_TAG);
    if (x->kind == AT_CREATE_REF && !x->replace)
        x->if_not_exists = p_take3(p, K_IF, K_NOT, K_EXISTS);
    else if (x->kind == AT_DROP_REF)
        x->if_exists = p_take2(p, K_IF, K_EXISTS);
    x->ref = p_is_kind(p, TK_STRING) ? p_string(p) : p_ident(p);
}

static bool ref_action(Parser *p, AlterAction *x)
{
    size_t words = p_is(p, K_CREATE) && p_is_at(p, 1, K_OR) && p_is_at(p, 2, K_REPLACE) ? 3 : 1;

    if (!ref_kind(p, words) || !(p_is(p, K_CREATE) || p_is(p, K_REPLACE) || p_is(p, K_DROP)))
        return false;
    x->kind = p_is(p, K_DROP) ? AT_DROP_REF : AT_CREATE_REF;
    x->replace = words == 3 || p_is(p, K_REPLACE);
    if (p_is(p, K_REPLACE))                          /* REPLACE BRANCH: it must exist */
        x->if_exists = 1;
    p->at += words;
    ref_name(p, x);
    if (x->kind == AT_CREATE_REF)
        ref_options(p, x);
    return true;
}

/* ---- WRITE ------------------------------------------------------------------------------------------------------------ */

static void flatten(Parser *p, AlterAction *x)
{
    OrderVec v = {0};

    if (x->order.n != 1 || x->order.p[0].expr->kind != EX_STRUCT)
        return;
    const ExprVec *args = &x->order.p[0].expr->args;
    for (size_t i = 0; i < args->n; i++) {
        OrderItem o = { .expr = args->p[i], .nulls_first = -1 };
        vec_push(p->a, &v, o);
    }
    x->order = v;
}

static bool write_action(Parser *p, AlterAction *x)
{
    Str mode = S("none");

    if (!p_take(p, K_WRITE))
        return false;
    x->kind = AT_WRITE_ORDER;
    if (p_take(p, K_UNORDERED)) {
        props_set(p->a, &x->props, S("write.distribution-mode"), mode);
        return true;
    }
    bool distributed = p_take(p, K_DISTRIBUTED);
    if (distributed) {
        p_need(p, K_BY);
        p_need(p, K_PARTITION);
        mode = S("hash");
    }
    bool local = p_take(p, K_LOCALLY);
    if (!distributed || local || p_is(p, K_ORDERED)) {
        p_need(p, K_ORDERED);
        p_need(p, K_BY);
        p_order_items(p, &x->order);
        flatten(p, x);
    }
    if (!distributed && !local)
        mode = S("range");
    props_set(p->a, &x->props, S("write.distribution-mode"), mode);
    return true;
}

/* ---- identifier fields --------------------------------------------------------------------------------------------------- */

static bool identifier_action(Parser *p, AlterAction *x)
{
    if (p_take3(p, K_SET, K_IDENTIFIER, K_FIELDS))
        x->kind = AT_SET_IDENTIFIER;
    else if (p_take3(p, K_DROP, K_IDENTIFIER, K_FIELDS))
        x->kind = AT_DROP_IDENTIFIER;
    else
        return false;
    do {
        StrVec name = {0};
        p_name(p, &name);
        vec_push(p->a, &x->names, str_join(p->a, &name, S(".")));
    } while (p_take_op(p, ','));
    return true;
}
