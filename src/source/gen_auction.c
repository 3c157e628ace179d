/* SPDX-License-Identifier: Apache-2.0 */
/* gen_auction.c - AUCTION: organizations, users and accounts at first; then, one an offset, auctions and the bids on each.
 *
 * Auction k has 2 to 9 bids, numbered 10 k and on; it ends 10 seconds after it began, and its bids are a second apart.  What it is follows from the seed and k, so only the
 * number of the auction under way, its next bid and its beginning are saved. */
#include "source/gen_int.h"

enum { T_ORGANIZATIONS, T_USERS, T_ACCOUNTS, T_AUCTIONS, T_BIDS, BIDS_MAX = 10, AUCTION_US = 10000000, SECOND_US = 1000000, BALANCE = 10000, ACCOUNT_BASE = 42 };

static const GenColumn organizations[] = { { "id", DT_INT64, "bigint", 0 }, { "name", DT_STRING, "text", 0 } };
static const GenColumn users[] = { { "id", DT_INT64, "bigint", 0 }, { "org_id", DT_INT64, "bigint", 0 }, { "name", DT_STRING, "text", 0 } };
static const GenColumn accounts[] = { { "id", DT_INT64, "bigint", 0 }, { "org_id", DT_INT64, "bigint", 0 }, { "balance", DT_INT64, "bigint", 0 } };
static const GenColumn auctions[] = { { "id", DT_INT64, "bigint", 0 }, { "seller", DT_INT64, "bigint", 0 }, { "item", DT_STRING, "text", 0 }, { "end_time", DT_TIMESTAMPTZ, "timestamp with time zone", 0 } };
static const GenColumn bids[] = { { "id", DT_INT64, "bigint", 0 }, { "buyer", DT_INT64, "bigint", 0 }, { "auction_id", DT_INT64, "bigint", 0 }, { "amount", DT_INT32, "integer", 0 },
                                  { "bid_time", DT_TIMESTAMPTZ, "timestamp with time zone", 0 } };
static const GenTable tables[] = { { "organizations", organizations, 2, 1 }, { "users", users, 3, 1 }, { "accounts", accounts, 3, 1 }, { "auctions", auctions, 4, 1 }, { "bids", bids, 5, 1 } };

static const char *const first_names[] = { "Ada", "Amir", "Bao", "Carla", "Chidi", "Dora", "Elif", "Emil", "Farah", "Goran", "Hana", "Ivo", "Jun", "Kaya", "Lars", "Lin",
                                           "Mara", "Milan", "Nadia", "Noor", "Olga", "Omar", "Petra", "Priya", "Rosa", "Samir", "Tara", "Uma", "Viktor", "Wei", "Yara", "Zoe" };
static const char *const last_names[] = { "Abara", "Becker", "Castro", "Dahl", "Eriksen", "Fischer", "Garcia", "Haddad", "Ito", "Jansen", "Kim", "Larsen", "Moreau", "Novak", "Okafor", "Petrov",
                                          "Quist", "Rossi", "Silva", "Tanaka", "Usman", "Vargas", "Weber", "Xu", "Yilmaz", "Zeman", "Alder", "Brook", "Cliff", "Dale", "Field", "Grove" };
static const char *const org_first[] = { "North", "Blue", "Quiet", "Iron", "Silver", "Green", "Bright", "Stone", "Golden", "River" };
static const char *const org_last[] = { "Works", "Trading", "Foods", "Logistics", "Press", "Energy", "Studio", "Mills", "Motors", "Optics" };
static const char *const items[] = { "Antique Clock", "Box of Records", "Carved Chess Set", "Day of Sailing", "Framed Map", "Garden Bench", "Handmade Quilt", "Old Camera", "Signed Novel", "Tea Service" };
enum { ORGANIZATIONS = COUNT_OF(org_first) * COUNT_OF(org_last), USERS = COUNT_OF(first_names) * COUNT_OF(last_names) };

typedef struct Auction { int64_t id, bid, begun_us; } Auction;      /* bid: the next one; of auction 0 there is none */

static Status auction_open(Gen *g, const Json *state, Error *err UNUSED)
{
    Auction *x = arena_new(g->a, Auction);

    *x = (Auction){ json_get_int(state, "auction", 0), json_get_int(state, "bid", 0), json_get_int(state, "begun_us", 0) };
    g->state = x;
    return OK;
}

static void auction_save(const Gen *g, Arena *a, Json *state)
{
    const Auction *x = g->state;

    json_set(a, state, "auction", json_int(a, x->id));
    json_set(a, state, "bid", json_int(a, x->bid));
    json_set(a, state, "begun_us", json_int(a, x->begun_us));
}

static void first_rows(Gen *g, SourceBatch *b)
{
    for (int64_t i = 0; i < ORGANIZATIONS; i++) {
        Str name = str_fmt(g->step, "%s %s", org_first[i % (int64_t)COUNT_OF(org_first)], org_last[i / (int64_t)COUNT_OF(org_first)]);
        Value org[] = { gen_i64(i + 1), gen_text(name) }, account[] = { gen_i64(i + 1 + ACCOUNT_BASE), gen_i64(i + 1), gen_i64(BALANCE) };
        gen_row(g, b, T_ORGANIZATIONS, 1, org);
        gen_row(g, b, T_ACCOUNTS, 1, account);
    }
    for (int64_t i = 0; i < USERS; i++) {
        Str name = str_fmt(g->step, "%s %s", first_names[i % (int64_t)COUNT_OF(first_names)], last_names[i / (int64_t)COUNT_OF(first_names)]);
        Value user[] = { gen_i64(i + 1), gen_i64(i % ORGANIZATIONS + 1), gen_text(name) };
        gen_row(g, b, T_USERS, 1, user);
    }
}

static int64_t bids_of(const Gen *g, int64_t auction)
{
    GenRand r = gen_rand(g->seed, T_AUCTIONS, (uint64_t)auction);
    return gen_range(&r, 2, BIDS_MAX);
}

static void begin_auction(Gen *g, SourceBatch *b, Auction *x)
{
    *x = (Auction){ .id = x->id + 1, .begun_us = g->now_us };
    GenRand r = gen_rand(g->seed, T_AUCTIONS, (uint64_t)x->id);
    gen_next(&r);                                     /* how many bids: bids_of */
    Value auction[] = { gen_i64(x->id), gen_i64(gen_range(&r, 1, USERS + 1)), gen_text(gen_pick(&r, items, COUNT_OF(items))), gen_time(x->begun_us + AUCTION_US) };
    gen_row(g, b, T_AUCTIONS, 1, auction);
}

static void place_bid(Gen *g, SourceBatch *b, Auction *x)
{
    int64_t id = x->id * BIDS_MAX + x->bid;
    GenRand r = gen_rand(g->seed, T_BIDS, (uint64_t)id);
    Value bid[] = { gen_i64(id), gen_i64(gen_range(&r, 1, USERS + 1)), gen_i64(x->id), gen_i32(gen_range(&r, 1, 100)), gen_time(x->begun_us + x->bid * SECOND_US) };

    gen_row(g, b, T_BIDS, 1, bid);
    x->bid++;
}

static Status auction_step(Gen *g, SourceBatch *b, Error *err UNUSED)
{
    Auction *x = g->state;

    if (!g->offset)
        first_rows(g, b);
    else if (!x->id || x->bid >= bids_of(g, x->id))
        begin_auction(g, b, x);
    else
        place_bid(g, b, x);
    return OK;
}

const GenKind gen_auction = { .name = "auction", .tables = tables, .ntables = COUNT_OF(tables), .options = " SEED,", .tick_us = 1000000, .open = auction_open, .step = auction_step,
                              .save = auction_save };
