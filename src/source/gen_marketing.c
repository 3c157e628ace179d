/* SPDX-License-Identifier: Apache-2.0 */
/* gen_marketing.c - MARKETING: customers at first; then each offset an impression, a lead with its prediction, perhaps a coupon, and what had been put off.
 *
 * A tenth of the impressions are clicked 20 to 40 seconds later; a lead that converts is updated up to 30 milliseconds later.  What is still to come is saved; when too much
 * is, the oldest comes early.  Leads, impressions and coupons share one sequence of numbers. */
#include "source/gen_int.h"

enum { T_CUSTOMERS, T_IMPRESSIONS, T_CLICKS, T_LEADS, T_COUPONS, T_PREDICTIONS, CUSTOMERS = 50, CAMPAIGNS = 20, LATER_MAX = 5000 };

static const GenColumn customers[] = { { "id", DT_INT64, "bigint", 0 }, { "email", DT_STRING, "text", 0 }, { "income", DT_INT64, "bigint", 0 } };
static const GenColumn impressions[] = { { "id", DT_INT64, "bigint", 0 }, { "customer_id", DT_INT64, "bigint", 0 }, { "campaign_id", DT_INT64, "bigint", 0 },
                                         { "impression_time", DT_TIMESTAMPTZ, "timestamp with time zone", 0 } };
static const GenColumn clicks[] = { { "impression_id", DT_INT64, "bigint", 0 }, { "click_time", DT_TIMESTAMPTZ, "timestamp with time zone", 0 } };
static const GenColumn leads[] = { { "id", DT_INT64, "bigint", 0 }, { "customer_id", DT_INT64, "bigint", 0 }, { "created_at", DT_TIMESTAMPTZ, "timestamp with time zone", 0 },
                                   { "converted_at", DT_TIMESTAMPTZ, "timestamp with time zone", 1 }, { "conversion_amount", DT_INT64, "bigint", 1 } };
static const GenColumn coupons[] = { { "id", DT_INT64, "bigint", 0 }, { "lead_id", DT_INT64, "bigint", 0 }, { "created_at", DT_TIMESTAMPTZ, "timestamp with time zone", 0 },
                                     { "amount", DT_INT64, "bigint", 0 } };
static const GenColumn predictions[] = { { "lead_id", DT_INT64, "bigint", 0 }, { "experiment_bucket", DT_STRING, "text", 0 }, { "predicted_at", DT_TIMESTAMPTZ, "timestamp with time zone", 0 },
                                         { "score", DT_DOUBLE, "double precision", 0 } };
static const GenTable tables[] = { { "customers", customers, 3, 1 }, { "impressions", impressions, 4, 1 }, { "clicks", clicks, 2, 0 }, { "leads", leads, 5, 1 },
                                   { "coupons", coupons, 4, 1 }, { "conversion_predictions", predictions, 4, 0 } };
static const char *const names[] = { "ada.alder", "bao.brook", "carla.cliff", "dora.dale", "emil.field", "hana.grove", "ivo.hill", "jun.lake", "lin.marsh", "zoe.vale" };

/* Still to come: a click of impression `id`, or the conversion of lead `id`. */
typedef struct Later { int64_t at_us, id, created_us, customer, amount; int is_lead; } Later;
typedef struct Marketing { int64_t counter; VEC(Later) later; } Marketing;

static Status marketing_open(Gen *g, const Json *state, Error *err UNUSED)
{
    Marketing *m = arena_new(g->a, Marketing);
    const Json *later = json_get(state, "later");

    m->counter = json_get_int(state, "counter", 0);
    for (size_t i = 0; later && later->kind == JSON_ARRAY && i < later->array.n; i++) {
        const Json *l = later->array.p[i];
        Later x = { json_get_int(l, "at", 0), json_get_int(l, "id", 0), json_get_int(l, "created", 0), json_get_int(l, "customer", 0), json_get_int(l, "amount", 0), (int)json_get_int(l, "lead", 0) };
        vec_push(g->a, &m->later, x);
    }
    g->state = m;
    return OK;
}

static void marketing_save(const Gen *g, Arena *a, Json *state)
{
    const Marketing *m = g->state;
    Json *later = json_array(a);

    json_set(a, state, "counter", json_int(a, m->counter));
    for (size_t i = 0; i < m->later.n; i++) {
        const Later *x = &m->later.p[i];
        Json *l = json_object(a);
        json_set(a, l, "at", json_int(a, x->at_us));
        json_set(a, l, "id", json_int(a, x->id));
        if (x->is_lead) {
            json_set(a, l, "lead", json_int(a, 1));
            json_set(a, l, "created", json_int(a, x->created_us));
            json_set(a, l, "customer", json_int(a, x->customer));
            json_set(a, l, "amount", json_int(a, x->amount));
        }
        json_push(a, later, l);
    }
    json_set(a, state, "later", later);
}

static void first_rows(Gen *g, SourceBatch *b)
{
    GenRand r = gen_rand(g->seed, T_CUSTOMERS, 0);

    for (int64_t i = 0; i < CUSTOMERS; i++) {
        Value row[] = { gen_i64(i), gen_text(str_fmt(g->step, "%s%lld@example.com", names[i % (int64_t)COUNT_OF(names)], (long long)(i / (int64_t)COUNT_OF(names) + 1))),
                        gen_i64(gen_range(&r, 5000000, 10000000)) };
        gen_row(g, b, T_CUSTOMERS, 1, row);
    }
}

static void happen(Gen *g, SourceBatch *b, const Later *x)
{
    Value click[] = { gen_i64(x->id), gen_time(x->at_us) };
    Value before[] = { gen_i64(x->id), gen_i64(x->customer), gen_time(x->created_us), gen_null(), gen_null() };
    Value after[] = { gen_i64(x->id), gen_i64(x->customer), gen_time(x->created_us), gen_time(x->at_us), gen_i64(x->amount) };

    if (!x->is_lead) {
        gen_row(g, b, T_CLICKS, 1, click);
        return;
    }
    gen_row(g, b, T_LEADS, -1, before);
    gen_row(g, b, T_LEADS, 1, after);
}

static void what_is_due(Gen *g, SourceBatch *b, Marketing *m)
{
    size_t k = 0;

    for (size_t i = 0; i < m->later.n; i++) {
        if (m->later.p[i].at_us <= g->now_us || m->later.n - i > LATER_MAX)
            happen(g, b, &m->later.p[i]);
        else
            m->later.p[k++] = m->later.p[i];
    }
    m->later.n = k;
}

static void impression(Gen *g, SourceBatch *b, Marketing *m, GenRand *r)
{
    int64_t id = m->counter++;
    Value row[] = { gen_i64(id), gen_i64(gen_range(r, 0, CUSTOMERS)), gen_i64(gen_range(r, 0, CAMPAIGNS)), gen_time(g->now_us) };
    Later click = { .at_us = g->now_us + gen_range(r, 20000, 40000) * 1000, .id = id };

    gen_row(g, b, T_IMPRESSIONS, 1, row);
    if (gen_range(r, 0, 10) == 1)
        vec_push(g->a, &m->later, click);
}

static bool coupon(Gen *g, SourceBatch *b, Marketing *m, GenRand *r, int64_t lead, int is_good)
{
    if (is_good || lead % 10 <= 1)
        return false;
    Value row[] = { gen_i64(m->counter++), gen_i64(lead), gen_time(g->now_us), gen_i64(gen_range(r, 500, 5000)) };
    gen_row(g, b, T_COUPONS, 1, row);
    return true;
}

/* A good score makes a conversion likely, and a coupon gives a second chance. */
static void lead(Gen *g, SourceBatch *b, Marketing *m, GenRand *r)
{
    int64_t id = m->counter++, customer = gen_range(r, 0, CUSTOMERS);
    double score = gen_real(r);
    Value row[] = { gen_i64(id), gen_i64(customer), gen_time(g->now_us), gen_null(), gen_null() };
    Value prediction[] = { gen_i64(id), gen_text(id % 10 <= 1 ? S("control") : S("experiment")), gen_time(g->now_us), gen_double(score) };

    gen_row(g, b, T_LEADS, 1, row);
    gen_row(g, b, T_PREDICTIONS, 1, prediction);
    bool sent = coupon(g, b, m, r, id, score > 0.5), converted = gen_real(r) < score;
    if (sent && !converted)
        converted = gen_real(r) < score;
    Later x = { .at_us = g->now_us + gen_range(r, 1, 30) * 1000, .id = id, .created_us = g->now_us, .customer = customer, .amount = gen_range(r, 1000, 25000), .is_lead = 1 };
    if (converted)
        vec_push(g->a, &m->later, x);
}

static Status marketing_step(Gen *g, SourceBatch *b, Error *err UNUSED)
{
    Marketing *m = g->state;
    GenRand r = gen_rand(g->seed, T_LEADS, (uint64_t)g->offset);

    if (!g->offset) {
        first_rows(g, b);
        return OK;
    }
    impression(g, b, m, &r);
    what_is_due(g, b, m);
    lead(g, b, m, &r);
    return OK;
}

const GenKind gen_marketing = { .name = "marketing", .tables = tables, .ntables = COUNT_OF(tables), .options = " SEED,", .tick_us = 1000000, .open = marketing_open, .step = marketing_step,
                                .save = marketing_save };
