/* SPDX-License-Identifier: Apache-2.0 */
/* source_generator.c - load generators: options, the clock, what is kept between starts.
 *
 * A generator is a sequence of offsets from 0 on; each gives some rows.  Offsets up to AS OF come at once, then one each TICK INTERVAL, until UP TO.  What a
 * generator gives at an offset depends on its seed, on what it saved, and on the time, which goes on by a tick an offset from where each start began.  So the sequence
 * can be gone through again with the same rows.  The note is {"offset", "tables", "state", "clocks": [[offset, microseconds], …]}; a table that is not named there
 * yet was added later: the sequence is run again from 0 for it alone.
 * Options: {"generator", "tick_us", "as_of", "up_to", "seed", …}: numbers, keys as in SQL with "_" for blanks. */
#include "source/gen_int.h"

enum { STEPS_MAX = 10000, MIN_WAIT_US = 20000, CLOCKS_MAX = 1000 };      /* offsets of one batch; a faster tick gives several offsets at once; starts remembered */

static const GenKind *const kinds[] = { &gen_counter, &gen_clock, &gen_datums, &gen_auction, &gen_marketing, &gen_tpch, &gen_key_value };
const DataType gen_decimal = { .kind = DT_DECIMAL, .precision = GEN_DECIMAL_PRECISION, .scale = GEN_DECIMAL_SCALE };

/* ---- randomness ------------------------------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

GenRand gen_rand(uint64_t seed, uint64_t what, uint64_t which)
{
    return (GenRand){ mix(mix(mix(seed + 0x9e3779b97f4a7c15u) + what) + which) };
}

uint64_t gen_next(GenRand *r) { return mix(r->s += 0x9e3779b97f4a7c15u); }
int64_t gen_range(GenRand *r, int64_t from, int64_t below) { return from + (int64_t)(gen_next(r) % (uint64_t)max_i64(below - from, 1)); }
double gen_real(GenRand *r) { return (double)(gen_next(r) >> 11) / 9007199254740992.0; }
Str gen_pick(GenRand *r, const char *const *words, size_t n) { return str_c(words[gen_next(r) % n]); }

void gen_row(const Gen *g, SourceBatch *b, size_t table, int weight, const Value *cells)
{
    if (g->emit[table])
        source_row(b, (size_t)g->emit[table] - 1, weight, cells);
}

/* ---- options --------------------------------------------------------------------------------------------------------------- */

static Status find_kind(const Json *options, const GenKind **ret, Error *err)
{
    Str name = json_get_str(options, "generator", (Str){0});

    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (str_eq(name, str_c(kinds[i]->name))) {
            *ret = kinds[i];
            return OK;
        }
    return FAIL(err, E_UNSUPPORTED, "there is no load generator " STR_FMT, STR_ARG(name));
}

static Status check_option(Arena *a, const GenKind *k, Str key, Error *err)
{
    Str words = str_upper(a, key);
    char *p = (char *)(uintptr_t)words.p;

    for (size_t i = 0; i < words.n; i++)
        if (p[i] == '_')
            p[i] = ' ';
    static const char *const common[] = { "GENERATOR", "TICK US", "AS OF", "UP TO", "ENVELOPE", "INCLUDE OFFSET", "INCLUDE KEY" };
    for (size_t i = 0; i < COUNT_OF(common); i++)
        if (str_eq(words, str_c(common[i])))
            return OK;
    if (str_find(str_c(k->options), str_fmt(a, " " STR_FMT ",", STR_ARG(words))) >= 0)
        return OK;
    return FAIL(err, E_INVALID, STR_FMT " load generators do not support " STR_FMT " values", STR_ARG(str_upper(a, str_c(k->name))), STR_ARG(words));
}

static Status check_options(Arena *a, const GenKind *k, const Json *options, Error *err)
{
    int64_t as_of = json_get_int(options, "as_of", 0), up_to = json_get_int(options, "up_to", INT64_MAX);

    for (size_t i = 0; i < options->object.n; i++)
        TRY(check_option(a, k, options->object.p[i].key, err));
    if (json_get_int(options, "tick_us", 1) < 0)
        return FAIL(err, E_INVALID, "unsupported negative TICK INTERVAL");
    if (as_of < 0 || up_to < 0)
        return FAIL(err, E_INVALID, "invalid %s: must be a non-negative integer", as_of < 0 ? "AS OF" : "UP TO");
    if (up_to < as_of)
        return FAIL(err, E_INVALID, "UP TO cannot be less than AS OF");
    return k->check ? k->check(options, err) : OK;
}

static DataType column_type(DataTypeKind kind)
{
    return kind == DT_DECIMAL ? gen_decimal : (DataType){ .kind = kind };
}

static Status generator_discover(Arena *a, const SourceSpec *s, SourceOutputs *ret, Error *err)
{
    const GenKind *k = NULL;

    TRY(find_kind(s->options, &k, err));
    TRY(check_options(a, k, s->options, err));
    for (size_t i = 0; i < k->ntables; i++) {
        const GenTable *t = &k->tables[i];
        SourceOutput o = { .name = str_c(t->name), .external = str_c(t->name) };
        int offset = json_get_bool(s->options, "include_offset", false);
        for (size_t c = 0; c < t->ncolumns; c++) {
            SourceColumn col = { .name = str_c(t->columns[c].name), .type = column_type(t->columns[c].kind), .sql_type = str_c(t->columns[c].sql_type), .not_null = !t->columns[c].nullable };
            if (str_eq(col.name, S("offset")) && !offset)
                continue;
            vec_push(a, &o.columns, col);
        }
        int unique = k != &gen_key_value || str_eq(json_get_str(s->options, "envelope", (Str){0}), S("upsert"));
        for (size_t c = 0; unique && c < t->nkey; c++)
            vec_push(a, &o.key, str_c(t->columns[c].name));
        vec_push(a, ret, o);
    }
    return OK;
}

/* ---- running ------------------------------------------------------------------------------------------------------------------- */

static const int *emit_all(Arena *a, const Gen *g, const Json *tables, int added)
{
    int *emit = arena_array(a, int, g->kind->ntables + 1);
    const SourceOutputs *outputs = source_spec(g->r)->outputs;

    for (size_t i = 0; i < outputs->n; i++) {
        bool known = false;
        for (size_t k = 0; tables && k < tables->array.n; k++)
            known |= tables->array.p[k]->kind == JSON_INT && tables->array.p[k]->integer == outputs->p[i].relation;
        for (size_t t = 0; t < g->kind->ntables; t++)
            if (str_eq(outputs->p[i].external, str_c(g->kind->tables[t].name)) && (!added || !known))
                emit[t] = (int)i + 1;
    }
    return emit;
}

/* ---- time ------------------------------------------------------------------------------------------------------------------------- */

static int64_t time_of(const Gen *g, int64_t offset)
{
    size_t i = g->clocks.n - 1;

    while (i > 0 && g->clocks.p[i].offset > offset)
        i--;
    return (g->clocks.p[i].us + max_i64(offset - g->clocks.p[i].offset, 0) * g->tick_us) / 1000 * 1000;
}

static void add_clock(Gen *g, int64_t offset)
{
    GenClock now = { offset, clock_us() };

    if (g->clocks.n >= CLOCKS_MAX)
        memmove(g->clocks.p, g->clocks.p + 1, --g->clocks.n * sizeof *g->clocks.p);
    vec_push(g->a, &g->clocks, now);
}

static void read_clocks(Gen *g, const Json *clocks)
{
    for (size_t i = 0; clocks && clocks->kind == JSON_ARRAY && i < clocks->array.n; i++) {
        const Json *x = clocks->array.p[i];
        if (x->kind != JSON_ARRAY || x->array.n != 2)
            continue;
        GenClock c = { x->array.p[0]->integer, x->array.p[1]->integer };
        vec_push(g->a, &g->clocks, c);
    }
}

static Json *clocks_json(Arena *a, const Gen *g)
{
    Json *all = json_array(a);

    for (size_t i = 0; i < g->clocks.n; i++) {
        Json *x = json_array(a);
        json_push(a, x, json_int(a, g->clocks.p[i].offset));
        json_push(a, x, json_int(a, g->clocks.p[i].us));
        json_push(a, all, x);
    }
    return all;
}

/* ---- batches ------------------------------------------------------------------------------------------------------------------------ */

static Json *tables_json(Arena *a, const Gen *g)
{
    Json *tables = json_array(a);
    const SourceOutputs *outputs = source_spec(g->r)->outputs;

    for (size_t i = 0; i < outputs->n; i++)
        json_push(a, tables, json_int(a, outputs->p[i].relation));
    return tables;
}

static Str note_text(Arena *a, const Gen *g)
{
    Json *note = json_object(a), *state = json_object(a);

    json_set(a, note, "offset", json_int(a, g->offset));
    json_set(a, note, "tables", tables_json(a, g));
    json_set(a, note, "clocks", clocks_json(a, g));
    if (g->kind->save)
        g->kind->save(g, a, state);
    json_set(a, note, "state", state);
    return json_text(a, note);
}

/* Offsets up to `until`, exclusive, in one batch; noted when `note` says so. */
static Status steps(Gen *g, int64_t until, const Json *note, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    SourceBatch *b;
    Status s = OK;

    TRY(source_batch(g->r, &b, err));
    g->step = a;
    for (; s == OK && g->offset < until; g->offset++) {
        g->now_us = time_of(g, g->offset);
        s = source_stopping(g->r) ? FAIL(err, E_CANCELLED, "the source is to stop") : g->kind->step(g, b, err);
    }
    if (s != OK) {
        source_abandon(b);
        return s;
    }
    int64_t rows = source_batch_rows(b);
    source_batch_at(b, (uint64_t)g->offset);
    TRY(source_commit(b, note ? json_text(a, note) : note_text(a, g), err));
    source_received(g->r, rows, 0);
    source_progress(g->r, g->offset, g->offset);
    return OK;
}

/* A table that was added later gets what it would have had. */
static Status fill_added(Gen *g, const Json *note, Error *err)
{
    Gen from_start = *g;
    bool any = false;

    from_start.emit = emit_all(g->a, g, json_get(note, "tables"), 1);
    for (size_t t = 0; t < g->kind->ntables; t++)
        any |= from_start.emit[t] != 0;
    if (!any || !g->offset)
        return OK;
    from_start.offset = 0;
    TRY(g->kind->open(&from_start, NULL, err));
    Json *known = json_object(g->a);
    json_set(g->a, known, "offset", json_int(g->a, g->offset));
    json_set(g->a, known, "tables", tables_json(g->a, g));
    json_set(g->a, known, "clocks", clocks_json(g->a, g));
    json_set(g->a, known, "state", json_get(note, "state") ? json_get(note, "state") : json_object(g->a));
    return steps(&from_start, g->offset, known, err);
}

static Status open_generator(Gen *g, Error *err)
{
    const Json *o = source_spec(g->r)->options;
    Str text = source_offsets(g->r, g->a);
    Json *note = NULL;

    TRY(find_kind(o, &g->kind, err));
    if (text.n)
        TRY_CTX(json_parse(g->a, text, &note, err), err, "the note of a load generator");
    g->options = o;
    g->seed = (uint64_t)json_get_int(o, "seed", 0);
    g->tick_us = json_get_int(o, "tick_us", g->kind->tick_us);
    g->offset = json_get_int(note, "offset", 0);
    g->emit = emit_all(g->a, g, NULL, 0);
    read_clocks(g, json_get(note, "clocks"));
    TRY(fill_added(g, note, err));
    TRY(g->kind->open(g, json_get(note, "state"), err));
    source_progress(g->r, g->offset, g->offset);
    return OK;
}

/* How many offsets are due; the clock is not made up for what passed while nobody ran. */
static int64_t due(const Gen *g, int64_t *last)
{
    int64_t n = (clock_mono_us() - *last) / g->tick_us;

    *last += n * g->tick_us;
    return min_i64(n, STEPS_MAX);
}

static Status tick_on(Gen *g, int64_t up_to, Error *err)
{
    int64_t last = clock_mono_us();

    while (g->offset < up_to && source_wait(g->r, max_i64(last + g->tick_us - clock_mono_us(), g->tick_us < MIN_WAIT_US ? MIN_WAIT_US : 0))) {
        int64_t n = due(g, &last);
        if (n)
            TRY(steps(g, min_i64(g->offset + n, up_to), NULL, err));
    }
    return OK;
}

static Status generator_run(SourceRun *r, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Gen g = { .r = r, .a = a };

    TRY(open_generator(&g, err));
    int64_t as_of = json_get_int(g.options, "as_of", 0), up_to = json_get_int(g.options, "up_to", INT64_MAX);
    bool never = as_of >= up_to;                      /* what is there at first comes at AS OF, which is over before it began */
    add_clock(&g, g.offset ? g.offset - 1 : as_of);
    if (!g.offset && !never)
        TRY(steps(&g, as_of + 1, NULL, err));
    source_snapshot_done(r);
    source_status(r, "running", (Str){0}, (Str){0});
    if (g.tick_us && !never)
        TRY(tick_on(&g, up_to, err));
    if (never || g.offset >= up_to || !g.tick_us)
        source_sealed(r);
    return OK;
}

const SourceConnector source_load_generator = { .type = "load-generator", .discover = generator_discover, .run = generator_run };
