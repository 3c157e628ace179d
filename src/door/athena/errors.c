/* SPDX-License-Identifier: Apache-2.0 */
/* errors.c - how a failed query looks at Athena: StateChangeReason and AthenaError.
 *
 * Reasons begin with one of Trino's names ("TABLE_NOT_FOUND: line 1:15: …"); the binder's already do.  Categories: 1 the system's fault, 2 the
 * user's, 3 else.  Types by the user guide's error catalog.  Texts of AWS (spec/glue.md 2.9 E6, E7) come first, ours behind. */
#include "door/athena/athena_int.h"

enum { CAT_SYSTEM = 1, CAT_USER = 2, TYPE_INTERNAL = 200, TYPE_TIMEOUT = 206, TYPE_ICEBERG = 233, TYPE_LAKE_FORMATION = 234, TYPE_RESULTS = 401, TYPE_USER = 1000,
       TYPE_DATA = 1001, TYPE_SYNTAX = 1006, TYPE_S3_DENIED = 1500 };

typedef struct ReasonRow { Status status; const char *prefix; int category, type, retryable; } ReasonRow;
static const ReasonRow REASONS[] = {
    { E_INVALID, "INVALID_ARGUMENTS", CAT_USER, TYPE_USER, 0 }, { E_SYNTAX, "SYNTAX_ERROR", CAT_USER, TYPE_SYNTAX, 0 }, { E_NOT_FOUND, "NOT_FOUND", CAT_USER, TYPE_SYNTAX, 0 },
    { E_EXISTS, "ALREADY_EXISTS", CAT_USER, TYPE_USER, 0 }, { E_NOT_EMPTY, "SCHEMA_NOT_EMPTY", CAT_USER, TYPE_USER, 0 },
    { E_CONFLICT, "ICEBERG_COMMIT_ERROR", CAT_USER, TYPE_ICEBERG, 1 }, { E_DENIED, "PERMISSION_DENIED", CAT_USER, TYPE_S3_DENIED, 0 },
    { E_PROTECTED, "PERMISSION_DENIED", CAT_USER, TYPE_S3_DENIED, 0 }, { E_QUARANTINED, "NOT_SUPPORTED", CAT_USER, TYPE_ICEBERG, 0 },
    { E_LIMIT, "EXCEEDED_LIMIT", CAT_USER, TYPE_USER, 0 }, { E_UNSUPPORTED, "NOT_SUPPORTED", CAT_USER, TYPE_USER, 0 },
    { E_OVERFLOW, "NUMERIC_VALUE_OUT_OF_RANGE", CAT_USER, TYPE_DATA, 0 }, { E_DIVISION, "DIVISION_BY_ZERO", CAT_USER, TYPE_DATA, 0 },
    { E_TIMEOUT, "EXCEEDED_TIME_LIMIT", CAT_USER, TYPE_TIMEOUT, 0 }, { E_UNAVAILABLE, "SERVER_STARTING_UP", CAT_SYSTEM, TYPE_INTERNAL, 1 },
    { E_CORRUPT, "ICEBERG_BAD_DATA", CAT_USER, TYPE_ICEBERG, 0 },
};

static const ReasonRow *reason_row(Status s)
{
    static const ReasonRow other = { E_INTERNAL, "GENERIC_INTERNAL_ERROR", CAT_SYSTEM, TYPE_INTERNAL, 1 };

    for (size_t i = 0; i < COUNT_OF(REASONS); i++)
        if (REASONS[i].status == s)
            return &REASONS[i];
    return &other;
}

/* "TABLE_NOT_FOUND: …" */
static bool has_name(Str text)
{
    size_t n = 0;

    while (n < text.n && ((text.p[n] >= 'A' && text.p[n] <= 'Z') || (n && text.p[n] == '_')))
        n++;
    return n > 3 && n + 1 < text.n && text.p[n] == ':' && text.p[n + 1] == ' ';
}

static const char *prefix_of(const ReasonRow *row, const Error *err)
{
    Str kind = str_c(err->kind);

    if (row->status == E_NOT_FOUND)
        return str_eq(kind, S("NoSuchNamespaceException")) ? "SCHEMA_NOT_FOUND" : str_eq(kind, S("NoSuchTableException")) ? "TABLE_NOT_FOUND" : row->prefix;
    if (row->status == E_EXISTS)
        return str_starts(str_c(err->message), S("Namespace")) ? "SCHEMA_ALREADY_EXISTS" : "TABLE_ALREADY_EXISTS";
    return row->prefix;
}

static Str sentence(Arena *a, const Error *err)
{
    Str m = str_dup(a, str_c(err->message));

    if (!err->hint[0])
        return m;
    return str_fmt(a, "%s%s %s", err->message, str_ends(m, S(".")) ? "" : ".", err->hint);
}

static Str random_bytes(Arena *a, size_t n)
{
    char *raw = arena_alloc(a, n);

    rand_bytes(raw, n);
    return str_n(raw, n);
}

/* E7: what S3 answered, then the rule. */
static Str refused_write(const Exec *x, Arena *a, const Error *err)
{
    Str manifest = str_cat(a, str_sub(x->output, 0, (size_t)(str_rchr(x->output, '/') + 1)), str_cat(a, x->id, S("-manifest.csv")));

    return str_fmt(a, "PERMISSION_DENIED: Access Denied (Service: S3, Status Code: 403, Request ID: " STR_FMT ", Extended Request ID: " STR_FMT
                   "). If a data manifest file was generated at '" STR_FMT "', you may need to manually clean the data from locations specified in the manifest."
                   " Athena will not delete data in your account. " STR_FMT,
                   STR_ARG(str_upper(a, hex_encode(a, random_bytes(a, 8)))), STR_ARG(base64_encode(a, random_bytes(a, 57))), STR_ARG(manifest), STR_ARG(sentence(a, err)));
}

static bool is_write(StmtKind k) { return k == ST_INSERT || k == ST_UPDATE || k == ST_DELETE || k == ST_MERGE || k == ST_TRUNCATE; }

void end_error(const Exec *x, Arena *a, const Error *err, AthEnd *end)
{
    const ReasonRow *row = reason_row(err->code);
    Str text = sentence(a, err), detail = str_c(err->detail);

    end->state = "FAILED";
    end->category = row->category;
    end->type = row->type;
    end->retryable = row->retryable;
    if (err->code == E_CANCELLED) {
        end->state = "CANCELLED";
        end->reason = S("Query cancelled by user");
        end->category = 0;
    } else if (err->code == E_TIMEOUT) {
        int minutes = str_eq(x->stmt.type, S("DDL")) ? ATH_DDL_MINUTES : ATH_DML_MINUTES;
        end->reason = str_fmt(a, "EXCEEDED_TIME_LIMIT: Query exceeded maximum time limit of %d.00m", minutes);
    } else if (err->code == E_PROTECTED && is_write(x->stmt.kind)) {
        end->reason = refused_write(x, a, err);
    } else if (err->code == E_QUARANTINED && str_starts(detail, S("Materialized view integrity check failed for"))) {
        end->reason = str_fmt(a, "NOT_SUPPORTED: %s", err->detail);                 /* E6 */
    } else {
        end->reason = has_name(text) ? text : str_fmt(a, "%s: " STR_FMT, prefix_of(row, err), STR_ARG(text));
    }
    if (err->code == E_DENIED && str_find(text, S("Lake Formation")) >= 0)
        end->type = TYPE_LAKE_FORMATION;
    if (str_find(end->reason, S(": line ")) >= 0)
        end->type = TYPE_SYNTAX;
}

/* The result could not be written to its place. */
void end_output(Arena *a, Str uri, const Error *err, AthEnd *end)
{
    end->state = "FAILED";
    end->category = CAT_USER;
    end->type = TYPE_RESULTS;
    end->retryable = 0;
    end->reason = err->code == E_DENIED || err->code == E_PROTECTED
        ? str_fmt(a, "Access denied when writing output to url: " STR_FMT " . Please ensure you are allowed to access the S3 bucket. " STR_FMT, STR_ARG(uri), STR_ARG(sentence(a, err)))
        : str_fmt(a, "Failed to write query results to Amazon S3: " STR_FMT, STR_ARG(sentence(a, err)));
}
