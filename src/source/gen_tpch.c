/* SPDX-License-Identifier: Apache-2.0 */
/* gen_tpch.c - TPCH: the eight tables of TPC-H at SCALE FACTOR at first; with a TICK INTERVAL then, each offset, one order and its lines change.
 *
 * An order follows from the seed, its number and its version; tick n makes a new version of an order that follows from n.  Which version an order has is found at a start
 * by going through the ticks, so nothing is saved.  Values are those of TPC-H's section 4.2 as far as names, ranges and relations go; texts are of our own. */
#include "source/gen_int.h"

enum { T_SUPPLIER, T_PART, T_PARTSUPP, T_CUSTOMER, T_ORDERS, T_LINEITEM, T_NATION, T_REGION, T_TICK,
       DATE_START = 8035, DATE_CURRENT = 9298, DATE_ORDERS = 2406, LINES_MAX = 7, SCALE_MAX = 1000, SUPPLIERS_MANY = 80 };      /* 1992-01-01; 1995-06-17; to 1998-08-02 */

static const GenColumn supplier[] = { { "s_suppkey", DT_INT64, "bigint", 0 }, { "s_name", DT_STRING, "text", 0 }, { "s_address", DT_STRING, "text", 0 }, { "s_nationkey", DT_INT64, "bigint", 0 },
                                      { "s_phone", DT_STRING, "text", 0 }, { "s_acctbal", DT_DECIMAL, "numeric", 0 }, { "s_comment", DT_STRING, "text", 0 } };
static const GenColumn part[] = { { "p_partkey", DT_INT64, "bigint", 0 }, { "p_name", DT_STRING, "text", 0 }, { "p_mfgr", DT_STRING, "text", 0 }, { "p_brand", DT_STRING, "text", 0 },
                                  { "p_type", DT_STRING, "text", 0 }, { "p_size", DT_INT32, "integer", 0 }, { "p_container", DT_STRING, "text", 0 }, { "p_retailprice", DT_DECIMAL, "numeric", 0 },
                                  { "p_comment", DT_STRING, "text", 0 } };
static const GenColumn partsupp[] = { { "ps_partkey", DT_INT64, "bigint", 0 }, { "ps_suppkey", DT_INT64, "bigint", 0 }, { "ps_availqty", DT_INT32, "integer", 0 },
                                      { "ps_supplycost", DT_DECIMAL, "numeric", 0 }, { "ps_comment", DT_STRING, "text", 0 } };
static const GenColumn customer[] = { { "c_custkey", DT_INT64, "bigint", 0 }, { "c_name", DT_STRING, "text", 0 }, { "c_address", DT_STRING, "text", 0 }, { "c_nationkey", DT_INT64, "bigint", 0 },
                                      { "c_phone", DT_STRING, "text", 0 }, { "c_acctbal", DT_DECIMAL, "numeric", 0 }, { "c_mktsegment", DT_STRING, "text", 0 }, { "c_comment", DT_STRING, "text", 0 } };
static const GenColumn orders[] = { { "o_orderkey", DT_INT64, "bigint", 0 }, { "o_custkey", DT_INT64, "bigint", 0 }, { "o_orderstatus", DT_STRING, "text", 0 }, { "o_totalprice", DT_DECIMAL, "numeric", 0 },
                                    { "o_orderdate", DT_DATE, "date", 0 }, { "o_orderpriority", DT_STRING, "text", 0 }, { "o_clerk", DT_STRING, "text", 0 }, { "o_shippriority", DT_INT32, "integer", 0 },
                                    { "o_comment", DT_STRING, "text", 0 } };
static const GenColumn lineitem[] = { { "l_orderkey", DT_INT64, "bigint", 0 }, { "l_partkey", DT_INT64, "bigint", 0 }, { "l_suppkey", DT_INT64, "bigint", 0 }, { "l_linenumber", DT_INT32, "integer", 0 },
                                      { "l_quantity", DT_DECIMAL, "numeric", 0 }, { "l_extendedprice", DT_DECIMAL, "numeric", 0 }, { "l_discount", DT_DECIMAL, "numeric", 0 }, { "l_tax", DT_DECIMAL, "numeric", 0 },
                                      { "l_returnflag", DT_STRING, "text", 0 }, { "l_linestatus", DT_STRING, "text", 0 }, { "l_shipdate", DT_DATE, "date", 0 }, { "l_commitdate", DT_DATE, "date", 0 },
                                      { "l_receiptdate", DT_DATE, "date", 0 }, { "l_shipinstruct", DT_STRING, "text", 0 }, { "l_shipmode", DT_STRING, "text", 0 }, { "l_comment", DT_STRING, "text", 0 } };
static const GenColumn nation[] = { { "n_nationkey", DT_INT64, "bigint", 0 }, { "n_name", DT_STRING, "text", 0 }, { "n_regionkey", DT_INT64, "bigint", 0 }, { "n_comment", DT_STRING, "text", 0 } };
static const GenColumn region[] = { { "r_regionkey", DT_INT64, "bigint", 0 }, { "r_name", DT_STRING, "text", 0 }, { "r_comment", DT_STRING, "text", 0 } };
static const GenTable tables[] = { { "supplier", supplier, 7, 1 }, { "part", part, 9, 1 }, { "partsupp", partsupp, 5, 2 }, { "customer", customer, 8, 1 }, { "orders", orders, 9, 1 },
                                   { "lineitem", lineitem, 16, 0 }, { "nation", nation, 4, 1 }, { "region", region, 3, 1 } };

static const char *const regions[] = { "AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST" };
static const struct { const char *name; int region; } nations[] = {
    { "ALGERIA", 0 }, { "ARGENTINA", 1 }, { "BRAZIL", 1 }, { "CANADA", 1 }, { "EGYPT", 4 }, { "ETHIOPIA", 0 }, { "FRANCE", 3 }, { "GERMANY", 3 }, { "INDIA", 2 }, { "INDONESIA", 2 },
    { "IRAN", 4 }, { "IRAQ", 4 }, { "JAPAN", 2 }, { "JORDAN", 4 }, { "KENYA", 0 }, { "MOROCCO", 0 }, { "MOZAMBIQUE", 0 }, { "PERU", 1 }, { "CHINA", 2 }, { "ROMANIA", 3 },
    { "SAUDI ARABIA", 4 }, { "VIETNAM", 2 }, { "RUSSIA", 3 }, { "UNITED KINGDOM", 3 }, { "UNITED STATES", 1 } };
static const char *const colors[] = { "almond", "azure", "beige", "black", "blue", "brown", "coral", "cream", "cyan", "forest", "gold", "green", "grey", "indigo", "ivory", "lemon", "lime", "linen", "maroon",
                                      "mint", "navy", "olive", "orange", "peach", "pink", "plum", "purple", "red", "rose", "salmon", "sienna", "snow", "tan", "tomato", "violet", "white", "yellow" };
static const char *const type_1[] = { "STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO" }, *const type_2[] = { "ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED" };
static const char *const type_3[] = { "TIN", "NICKEL", "BRASS", "STEEL", "COPPER" }, *const box_1[] = { "SM", "LG", "MED", "JUMBO", "WRAP" };
static const char *const box_2[] = { "CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM" }, *const segments[] = { "AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD" };
static const char *const priorities[] = { "1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW" };
static const char *const instructions[] = { "DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN" }, *const modes[] = { "REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB" };
static const char *const words[] = { "accounts", "along", "boldly", "careful", "deposits", "even", "final", "foxes", "furiously", "ideas", "instructions", "ironic", "packages", "pending", "quickly", "quiet",
                                     "regular", "requests", "silent", "sleep", "special", "theodolites", "wake", "above" };
#define PICK(r, list) gen_pick((r), (list), COUNT_OF(list))

typedef struct Tpch { int64_t suppliers, parts, customers, orders, clerks; int32_t *versions; } Tpch;      /* versions: by order's number */

/* ---- texts ---------------------------------------------------------------------------------------------------------------- */

static Str comment(const Gen *g, GenRand *r, int64_t least, int64_t most)
{
    int64_t n = gen_range(r, least, most + 1);
    StrBuf b = sb_new(g->step);

    while ((int64_t)b.n < n) {
        sb_addc(&b, b.n ? " " : "");
        sb_add(&b, PICK(r, words));
    }
    return str_sub(sb_str(&b), 0, (size_t)n);
}

static Str address(const Gen *g, GenRand *r)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ,";
    int64_t n = gen_range(r, 10, 41);
    char *p = arena_alloc(g->step, (size_t)n);

    for (int64_t i = 0; i < n; i++)
        p[i] = letters[gen_next(r) % (sizeof letters - 1)];
    return str_n(p, (size_t)n);
}

static Str phone(const Gen *g, GenRand *r, int64_t of)
{
    int64_t x = gen_range(r, 100, 1000), y = gen_range(r, 100, 1000), z = gen_range(r, 1000, 10000);
    return str_fmt(g->step, "%lld-%lld-%lld-%lld", (long long)of + 10, (long long)x, (long long)y, (long long)z);
}

static int64_t retail_price(int64_t key) { return 90000 + key / 10 % 20001 + 100 * (key % 1000); }                /* cents */
static int64_t order_key(int64_t n) { return ((n >> 3) << 5) | (n & 7); }

/* The four suppliers of a part are four indeed: where there are few suppliers, the parts' own shift is left out. */
static int64_t supplier_of(const Tpch *t, int64_t key, int64_t i)
{
    int64_t shift = t->suppliers >= SUPPLIERS_MANY ? (key - 1) / t->suppliers : 0;
    return (key + i * (t->suppliers / 4 + shift)) % t->suppliers + 1;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------- */

static void supplier_row(Gen *g, SourceBatch *b, const Tpch *t UNUSED, int64_t key)
{
    GenRand r = gen_rand(g->seed, T_SUPPLIER, (uint64_t)key);
    int64_t n = gen_range(&r, 0, COUNT_OF(nations));
    Value row[7] = { gen_i64(key), gen_text(str_fmt(g->step, "Supplier#%09lld", (long long)key)) };

    row[2] = gen_text(address(g, &r));
    row[3] = gen_i64(n);
    row[4] = gen_text(phone(g, &r, n));
    row[5] = gen_dec(gen_range(&r, -99999, 1000000));
    row[6] = gen_text(comment(g, &r, 25, 100));
    gen_row(g, b, T_SUPPLIER, 1, row);
}

static Str part_name(const Gen *g, GenRand *r)
{
    StrBuf b = sb_new(g->step);
    for (int i = 0; i < 5; i++) {
        sb_addc(&b, i ? " " : "");
        sb_add(&b, PICK(r, colors));
    }
    return sb_str(&b);
}

static void part_rows(Gen *g, SourceBatch *b, const Tpch *t, int64_t key)
{
    GenRand r = gen_rand(g->seed, T_PART, (uint64_t)key);
    int64_t m = gen_range(&r, 1, 6), n = gen_range(&r, 1, 6);
    Str x = PICK(&r, type_1), y = PICK(&r, type_2), z = PICK(&r, type_3), c1 = PICK(&r, box_1), c2 = PICK(&r, box_2);
    Value row[9] = { gen_i64(key), gen_text(part_name(g, &r)), gen_text(str_fmt(g->step, "Manufacturer#%lld", (long long)m)), gen_text(str_fmt(g->step, "Brand#%lld%lld", (long long)m, (long long)n)),
                     gen_text(str_fmt(g->step, STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(x), STR_ARG(y), STR_ARG(z))), gen_i32(0), gen_text(str_fmt(g->step, STR_FMT " " STR_FMT, STR_ARG(c1), STR_ARG(c2))),
                     gen_dec(retail_price(key)) };

    row[5] = gen_i32(gen_range(&r, 1, 51));
    row[8] = gen_text(comment(g, &r, 5, 22));
    gen_row(g, b, T_PART, 1, row);
    for (int64_t i = 0; i < 4; i++) {
        Value ps[5] = { gen_i64(key), gen_i64(supplier_of(t, key, i)) };
        ps[2] = gen_i32(gen_range(&r, 1, 10000));
        ps[3] = gen_dec(gen_range(&r, 100, 100001));
        ps[4] = gen_text(comment(g, &r, 49, 198));
        gen_row(g, b, T_PARTSUPP, 1, ps);
    }
}

static void customer_row(Gen *g, SourceBatch *b, const Tpch *t UNUSED, int64_t key)
{
    GenRand r = gen_rand(g->seed, T_CUSTOMER, (uint64_t)key);
    int64_t n = gen_range(&r, 0, COUNT_OF(nations));
    Value row[8] = { gen_i64(key), gen_text(str_fmt(g->step, "Customer#%09lld", (long long)key)) };

    row[2] = gen_text(address(g, &r));
    row[3] = gen_i64(n);
    row[4] = gen_text(phone(g, &r, n));
    row[5] = gen_dec(gen_range(&r, -99999, 1000000));
    row[6] = gen_text(PICK(&r, segments));
    row[7] = gen_text(comment(g, &r, 29, 116));
    gen_row(g, b, T_CUSTOMER, 1, row);
}

typedef struct Line { int64_t price; int is_open; } Line;             /* price: with tax and discount, in 1/10,000 cents */

static Line line_row(Gen *g, SourceBatch *b, const Tpch *t, GenRand *r, int64_t key, int64_t number, int64_t ordered, int weight)
{
    int64_t p = gen_range(r, 1, t->parts + 1), s = supplier_of(t, p, gen_range(r, 0, 4)), quantity = gen_range(r, 1, 51), price = quantity * retail_price(p);
    int64_t discount = gen_range(r, 0, 11), tax = gen_range(r, 0, 9), shipped = ordered + gen_range(r, 1, 122), promised = ordered + gen_range(r, 30, 91), received = shipped + gen_range(r, 1, 31);
    Str flag = received > DATE_CURRENT ? S("N") : gen_next(r) % 2 ? S("R") : S("A");
    Line line = { price * (100 + tax) * (100 - discount), shipped > DATE_CURRENT };
    Value row[16] = { gen_i64(key), gen_i64(p), gen_i64(s), gen_i32(number), gen_dec(quantity * 100), gen_dec(price), gen_dec(discount), gen_dec(tax), gen_text(flag),
                      gen_text(line.is_open ? S("O") : S("F")), gen_date(shipped), gen_date(promised), gen_date(received) };

    row[13] = gen_text(PICK(r, instructions));
    row[14] = gen_text(PICK(r, modes));
    row[15] = gen_text(comment(g, r, 10, 43));
    gen_row(g, b, T_LINEITEM, weight, row);
    return line;
}

static void order_rows(Gen *g, SourceBatch *b, const Tpch *t, int64_t n, int64_t version, int weight)
{
    GenRand r = gen_rand(g->seed, T_ORDERS, (uint64_t)n * 0x10001u + (uint64_t)version);
    int64_t key = order_key(n), lines = gen_range(&r, 1, LINES_MAX + 1), ordered = DATE_START + gen_range(&r, 0, DATE_ORDERS - 151), total = 0, open = 0, buyer = gen_range(&r, 1, t->customers + 1);

    while (buyer % 3 == 0)                            /* a third of the customers order nothing */
        buyer = gen_range(&r, 1, t->customers + 1);
    for (int64_t i = 1; i <= lines; i++) {
        Line line = line_row(g, b, t, &r, key, i, ordered, weight);
        total += line.price;
        open += line.is_open;
    }
    Value row[9] = { gen_i64(key), gen_i64(buyer), gen_text(!open ? S("F") : open == lines ? S("O") : S("P")), gen_dec((total + 5000) / 10000), gen_date(ordered) };
    row[5] = gen_text(PICK(&r, priorities));
    row[6] = gen_text(str_fmt(g->step, "Clerk#%09lld", (long long)gen_range(&r, 1, t->clerks + 1)));
    row[7] = gen_i32(0);
    row[8] = gen_text(comment(g, &r, 19, 78));
    gen_row(g, b, T_ORDERS, weight, row);
}

static void places(Gen *g, SourceBatch *b)
{
    GenRand r = gen_rand(g->seed, T_NATION, 0);

    for (size_t i = 0; i < COUNT_OF(nations); i++) {
        Value row[4] = { gen_i64((int64_t)i), gen_text(str_c(nations[i].name)), gen_i64(nations[i].region), gen_text(comment(g, &r, 31, 114)) };
        gen_row(g, b, T_NATION, 1, row);
    }
    for (size_t i = 0; i < COUNT_OF(regions); i++) {
        Value row[3] = { gen_i64((int64_t)i), gen_text(str_c(regions[i])), gen_text(comment(g, &r, 31, 115)) };
        gen_row(g, b, T_REGION, 1, row);
    }
}

typedef void (*Row)(Gen *g, SourceBatch *b, const Tpch *t, int64_t key);

static void first_order(Gen *g, SourceBatch *b, const Tpch *t, int64_t n) { order_rows(g, b, t, n, 0, 1); }

/* Texts of a thousand keys are all that is held at once, and so often somebody may want it to stop. */
static Status keys(Gen *g, SourceBatch *b, const Tpch *t, int64_t upto, Row row, Error *err)
{
    for (int64_t i = 1; i <= upto; i++) {
        row(g, b, t, i);
        if (i % 1000)
            continue;
        arena_destroy(g->step);
        g->step = arena_create();
        if (source_stopping(g->r))
            return FAIL(err, E_CANCELLED, "the source is to stop");
    }
    return OK;
}

static Status all_keys(Gen *g, SourceBatch *b, const Tpch *t, Error *err)
{
    TRY(keys(g, b, t, t->suppliers, supplier_row, err));
    TRY(keys(g, b, t, t->parts, part_rows, err));
    TRY(keys(g, b, t, t->customers, customer_row, err));
    TRY(keys(g, b, t, t->orders, first_order, err));
    places(g, b);
    return OK;
}

static Status all_rows(Gen *g, SourceBatch *b, const Tpch *t, Error *err)
{
    Arena *given = g->step;

    g->step = arena_create();
    Status s = all_keys(g, b, t, err);
    arena_destroy(g->step);
    g->step = given;
    return s;
}

/* ---- ticks ------------------------------------------------------------------------------------------------------------------- */

static int64_t changed_order(const Gen *g, const Tpch *t, int64_t tick)
{
    GenRand r = gen_rand(g->seed, T_TICK, (uint64_t)tick);
    return gen_range(&r, 1, t->orders + 1);
}

static Status tpch_step(Gen *g, SourceBatch *b, Error *err)
{
    Tpch *t = g->state;

    if (!g->offset)
        return all_rows(g, b, t, err);
    int64_t n = changed_order(g, t, g->offset);
    order_rows(g, b, t, n, t->versions[n], -1);
    order_rows(g, b, t, n, ++t->versions[n], 1);
    return OK;
}

static double scale_of(const Json *o)
{
    const Json *sf = json_get(o, "scale_factor");
    return !sf ? 0.01 : sf->kind == JSON_INT ? (double)sf->integer : sf->kind == JSON_REAL ? sf->real : -1;
}

static int64_t scaled(double sf, int64_t n) { return max_i64((int64_t)(sf * (double)n), 1); }

static Status tpch_check(const Json *o, Error *err)
{
    double sf = scale_of(o);

    if (!(sf >= 0) || sf > SCALE_MAX)
        return FAIL(err, E_INVALID, "unsupported scale factor %g", sf);
    return OK;
}

static Status tpch_open(Gen *g, const Json *state UNUSED, Error *err)
{
    Tpch *t = arena_new(g->a, Tpch);
    double sf = scale_of(g->options);

    TRY(tpch_check(g->options, err));
    *t = (Tpch){ max_i64(scaled(sf, 10000), 4), scaled(sf, 200000), max_i64(scaled(sf, 150000), 3), scaled(sf, 1500000), scaled(sf, 1000), NULL };
    t->versions = arena_array(g->a, int32_t, t->orders + 1);
    for (int64_t i = 1; i < g->offset; i++)
        t->versions[changed_order(g, t, i)]++;
    g->state = t;
    return OK;
}

const GenKind gen_tpch = { .name = "tpch", .tables = tables, .ntables = COUNT_OF(tables), .options = " SCALE FACTOR, SEED,", .tick_us = 0, .check = tpch_check, .open = tpch_open, .step = tpch_step };
