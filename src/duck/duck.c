/* SPDX-License-Identifier: Apache-2.0 */
/* duck.c - the engine's life: open, settings, connections, statements without rows, errors.
 *
 * Generated SQL may read local files by path, so external access stays on; everything else that could reach
 * out is off before the first statement, and the configuration is locked after set-up.
 * Invariants: (1) after duck_open no SQL text can change a setting; (2) an error's status comes from the engine's
 * error type, never from its words. */
#include "duck/duck_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Hold { struct Hold *next; int64_t id; void (*release)(void *); void *what; } Hold;

static void config_done(duckdb_config *c) { duckdb_destroy_config(c); }
static void result_done(duckdb_result *r) { duckdb_destroy_result(r); }
static void engine_done(DuckEngine **e) { duck_close(*e); }
static void conn_done(duckdb_connection *c) { duckdb_disconnect(c); }

/* ---- opening ---------------------------------------------------------------------------------------------- */

static Status set_config(duckdb_config c, const char *name, Str value, Error *err)
{
    char text[4096];

    if (value.n >= sizeof text)
        return FAIL(err, E_LIMIT, "engine setting '%s' is too long", name);
    snprintf(text, sizeof text, STR_FMT, STR_ARG(value));
    if (duckdb_set_config(c, name, text) != DuckDBSuccess)
        return FAIL(err, E_INVALID, "engine setting '%s' does not take '%s'", name, text);
    return OK;
}

static Status set_memory(duckdb_config c, Str limit, Error *err)
{
    char text[32];

    if (limit.n)
        return set_config(c, "memory_limit", limit, err);
    long long bytes = (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    snprintf(text, sizeof text, "%lldMB", bytes / 10 * 6 / 1000000);
    return set_config(c, "memory_limit", str_c(text), err);
}

static Status set_temp_dir(duckdb_config c, Str dir, Error *err)
{
    char path[4096];

    if (dir.n >= sizeof path)
        return FAIL(err, E_LIMIT, "temporary directory's name is too long");
    snprintf(path, sizeof path, STR_FMT, STR_ARG(dir));
    struct stat st;
    if (dir.n && stat(path, &st) != 0 && mkdir(path, 0700) != 0)
        return error_set(err, E_IO, ORIGIN, "cannot make temporary directory '%s'", path);
    return set_config(c, "temp_directory", dir, err);
}

static Status configure(duckdb_config c, const DuckOptions *o, Error *err)
{
    static const struct { const char *name, *value; } fixed[] = {
        { "autoinstall_known_extensions", "false" },
        { "autoload_known_extensions", "false" },
        { "allow_community_extensions", "false" },
        { "allow_unsigned_extensions", "false" },
        { "preserve_insertion_order", "false" },
        { "order_by_non_integer_literal", "true" },   /* a constant as ORDER BY key orders nothing; it is no error in Spark */
        { "checkpoint_threshold", "128MB" },          /* of a database file's log: each checkpoint packs its last rows anew. Read back in some 2 s after a crash */
    };
    char threads[16];

    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        TRY(set_config(c, fixed[i].name, str_c(fixed[i].value), err));
    TRY(set_memory(c, o->memory_limit, err));
    TRY(set_temp_dir(c, o->temp_dir, err));
    if (o->threads > 0) {
        snprintf(threads, sizeof threads, "%d", o->threads);
        TRY(set_config(c, "threads", str_c(threads), err));
    }
    return OK;
}

static Status run(duckdb_connection con, const char *sql, Error *err)
{
    CLEANUP(result_done) duckdb_result r = { 0 };

    if (duckdb_query(con, sql, &r) != DuckDBSuccess)
        return DUCK_FAIL(err, duckdb_result_error_type(&r), duckdb_result_error(&r));
    return OK;
}

static Status set_up(DuckEngine *e, Error *err)
{
    CLEANUP(conn_done) duckdb_connection con = NULL;

    if (duckdb_connect(e->db, &con) != DuckDBSuccess)
        return FAIL(err, E_INTERNAL, "cannot connect to the engine");
    TRY(duck_functions_register(con, err));
    TRY(duck_rowset_register(con, e->rowsets, err));
    TRY_CTX(run(con, "SET GLOBAL TimeZone = 'UTC'", err), err, "setting the time zone");
    TRY_CTX(run(con, "SET GLOBAL parquet_metadata_cache = true", err), err, "setting up the reader of files");   /* files never change under a name */
    TRY_CTX(run(con, "SET GLOBAL lock_configuration = true", err), err, "locking the configuration");   /* (1) */
    return OK;
}

Status duck_open(const DuckOptions *o, DuckEngine **ret, Error *err)
{
    CLEANUP(config_done) duckdb_config c = NULL;
    CLEANUP(engine_done) DuckEngine *e = calloc(1, sizeof *e);
    char path[4096], *why = NULL;

    if (!e || duckdb_create_config(&c) != DuckDBSuccess)
        return FAIL(err, E_INTERNAL, "cannot make an engine configuration");
    if (o->path.n >= sizeof path)
        return FAIL(err, E_LIMIT, "database path is too long");
    snprintf(path, sizeof path, STR_FMT, STR_ARG(o->path));
    TRY(configure(c, o, err));
    if (duckdb_open_ext(o->path.n ? path : NULL, &e->db, c, &why) != DuckDBSuccess) {
        Status s = FAIL(err, E_IO, "cannot open the engine: %s", why ? why : "no reason given");
        duckdb_free(why);
        return s;
    }
    e->rowsets = rowsets_new();
    TRY_CTX(set_up(e, err), err, "setting up the engine");
    *ret = e;
    e = NULL;
    return OK;
}

void duck_close(DuckEngine *e)
{
    if (!e)
        return;
    if (e->db)
        duckdb_close(&e->db);
    rowsets_free(e->rowsets);
    free(e);
}

const char *duck_version(void) { return duckdb_library_version(); }

/* ---- connections ------------------------------------------------------------------------------------------ */

Status duck_connect(DuckEngine *e, DuckConn **ret, Error *err)
{
    DuckConn *c = calloc(1, sizeof *c);

    if (!c || duckdb_connect(e->db, &c->con) != DuckDBSuccess) {
        free(c);
        return FAIL(err, E_UNAVAILABLE, "cannot connect to the engine");
    }
    c->rowsets = rowsets_ref(e->rowsets);
    *ret = c;
    return OK;
}

void duck_disconnect(DuckConn *c)
{
    if (!c)
        return;
    duckdb_disconnect(&c->con);
    while (c->holds)
        duck_let_go(c, c->holds->id);
    rowsets_end(c);
    free(c);
}

void duck_disconnectp(DuckConn **c)
{
    duck_disconnect(*c);
    *c = NULL;
}

int64_t duck_hold(DuckConn *c, void (*release)(void *what), void *what)
{
    Hold *h = calloc(1, sizeof *h);

    if (!h)
        abort();
    *h = (Hold){ c->holds, ++c->last_hold, release, what };
    c->holds = h;
    return h->id;
}

void duck_let_go(DuckConn *c, int64_t hold)
{
    Hold **at = &c->holds;

    while (*at && (*at)->id != hold)
        at = &(*at)->next;
    Hold *h = *at;
    if (!h)
        return;
    *at = h->next;
    h->release(h->what);
    free(h);
}

void duck_interrupt(DuckConn *c) { duckdb_interrupt(c->con); }

/* ---- statements without rows ------------------------------------------------------------------------------ */

Status duck_exec(DuckConn *c, Str sql, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    if (memchr(sql.p ? sql.p : "", 0, sql.n))
        return FAIL(err, E_INTERNAL, "generated SQL holds a NUL byte");
    return run(c->con, str_z(a, sql), err);
}

/* ---- errors ----------------------------------------------------------------------------------------------- */

static Status status_of(duckdb_error_type t)
{
    switch (t) {
    case DUCKDB_ERROR_INTERRUPT: return E_CANCELLED;
    case DUCKDB_ERROR_OUT_OF_RANGE: case DUCKDB_ERROR_DECIMAL: return E_OVERFLOW;
    case DUCKDB_ERROR_DIVIDE_BY_ZERO: return E_DIVISION;
    case DUCKDB_ERROR_CONVERSION: case DUCKDB_ERROR_INVALID_INPUT: case DUCKDB_ERROR_MISMATCH_TYPE:
    case DUCKDB_ERROR_INVALID_TYPE: case DUCKDB_ERROR_CONSTRAINT: return E_INVALID;
    case DUCKDB_ERROR_OUT_OF_MEMORY: case DUCKDB_ERROR_OBJECT_SIZE: return E_LIMIT;
    case DUCKDB_ERROR_IO: case DUCKDB_ERROR_HTTP: case DUCKDB_ERROR_NETWORK: return E_IO;
    case DUCKDB_ERROR_TRANSACTION: return E_CONFLICT;
    case DUCKDB_ERROR_SYNTAX: case DUCKDB_ERROR_PARSER: return E_SYNTAX;
    case DUCKDB_ERROR_NOT_IMPLEMENTED: return E_UNSUPPORTED;
    case DUCKDB_ERROR_PERMISSION: return E_DENIED;
    default: return E_INTERNAL;
    }
}

/* "Conversion Error: text\n\nLINE 1: …" to "text": the kind is in the status, the line is of generated text. */
static Str clean(Str text)
{
    ptrdiff_t head = str_find(text, S(" Error: "));
    if (head >= 0 && head < 40)
        text = str_from(text, (size_t)head + 8);
    ptrdiff_t line = str_find(text, S("\n\nLINE "));
    return str_trim(line >= 0 ? str_sub(text, 0, (size_t)line) : text);
}

static Status status_of_sqlstate(Str state)
{
    if (str_eq(state, S("22003")))
        return E_OVERFLOW;
    if (str_eq(state, S("54000")))
        return E_LIMIT;
    if (str_eq(state, S("0A000")))
        return E_UNSUPPORTED;
    return str_eq(state, S("22012")) ? E_DIVISION : E_INVALID;
}

/* What the engine throws without a kind of its own. */
static Status status_of_text(Str t)
{
    static const struct { const char *words; Status status; } known[] = {
        { "Max expression depth limit", E_LIMIT }, { "TProtocolException", E_CORRUPT }, { "Prefetch registered for bytes outside file", E_CORRUPT },
        { "Out of buffer", E_CORRUPT }, { "don't know what type", E_CORRUPT }, { "invalid TType", E_CORRUPT }, { "Corrupted file?", E_CORRUPT },
    };
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (str_find(t, str_c(known[i].words)) >= 0)
            return known[i].status;
    return E_INTERNAL;
}

Status duck_fail(Error *err, duckdb_error_type type, const char *text, const char *origin)
{
    static const char mark[] = "SQLSTATE: ";
    Str t = clean(str_c(text ? text : "the engine gave no reason"));
    ptrdiff_t state = type == DUCKDB_ERROR_INVALID_INPUT ? str_find(t, S("SQLSTATE: ")) : -1;
    Status s = status_of(type);

    if (s == E_IO && (str_find(t, S("No space left on device")) >= 0 || str_find(t, S("Disk quota exceeded")) >= 0))
        s = E_FULL;                                    /* the engine passes errno on as text alone */
    if (s == E_INTERNAL)
        s = status_of_text(t);
    if (state >= 0 && t.n >= (size_t)state + sizeof mark - 1 + 5) {
        Str code = str_sub(t, (size_t)state + sizeof mark - 1, (size_t)state + sizeof mark - 1 + 5);
        s = status_of_sqlstate(code);
        error_set(err, s, origin, STR_FMT, STR_ARG(t));
        memcpy(err->sqlstate, code.p, 5);
    } else {
        error_set(err, s, origin, STR_FMT, STR_ARG(t));
        if (type == DUCKDB_ERROR_CONVERSION)
            memcpy(err->sqlstate, "22018", 6);
    }
    for (char *p = err->message; *p; p++)
        if (*p == '\n' || *p == '\r')
            *p = ' ';
    return s;
}
