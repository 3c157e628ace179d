/* SPDX-License-Identifier: Apache-2.0 */
/* live_limits.c - how many of each there may be: max_tables, max_sources … as ALTER SYSTEM sets them, and how long a name is.
 *
 * A limit is asked when something is made; what is there already stays when a limit falls below it. */
#include "service/live_sql.h"

enum { IDENT_MAX = 255 };

static const struct { const char *setting, *what; } limits[LIMITS] = {
    [LIMIT_TABLES] = { "max_tables", "table" }, [LIMIT_SOURCES] = { "max_sources", "source" }, [LIMIT_SINKS] = { "max_sinks", "sink" },
    [LIMIT_MVIEWS] = { "max_materialized_views", "materialized view" }, [LIMIT_SECRETS] = { "max_secrets", "secret" },
    [LIMIT_KAFKA] = { "max_kafka_connections", "Kafka Connection" }, [LIMIT_POSTGRES] = { "max_postgres_connections", "PostgreSQL Connection" },
    [LIMIT_SCHEMA_OBJECTS] = { "max_objects_per_schema", "object" }, [LIMIT_CLUSTERS] = { "max_clusters", "cluster" },
    [LIMIT_REPLICAS] = { "max_replicas_per_cluster", "cluster replica" }, [LIMIT_DATABASES] = { "max_databases", "database" },
    [LIMIT_SCHEMAS] = { "max_schemas_per_database", "schema" }, [LIMIT_ROLES] = { "max_roles", "role" },
};

Status live_limit(Service *s, LiveLimit which, size_t there, size_t more, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    size_t desired = there + more;
    int64_t limit;

    if (!more || !str_to_i64(setting_system(s, a, str_c(limits[which].setting)), &limit) || desired <= (size_t)max_i64(limit, 0))
        return OK;
    RAISE(err, E_LIMIT, "creating %s would violate %s limit (desired: %zu, limit: %lld, current: %zu)", limits[which].what, limits[which].setting, desired, (long long)limit, there);
    error_hint(err, "Drop an existing %s or contact support to request a limit increase.", limits[which].what);
    return live_refuse(E_LIMIT, "53000", err);
}

/* ---- objects -------------------------------------------------------------------------------------------------------------------- */

static bool counts_as(const Object *o, LiveLimit *ret)
{
    switch (o->kind) {
    case OBJ_TABLE: *ret = LIMIT_TABLES; return true;
    case OBJ_SOURCE: *ret = LIMIT_SOURCES; return !str_eq(o->type, S("progress"));
    case OBJ_SINK: *ret = LIMIT_SINKS; return true;
    case OBJ_MVIEW: *ret = LIMIT_MVIEWS; return true;
    case OBJ_SECRET: *ret = LIMIT_SECRETS; return true;
    case OBJ_CONNECTION:
        *ret = str_eq(o->type, S("kafka")) ? LIMIT_KAFKA : LIMIT_POSTGRES;
        return str_eq(o->type, S("kafka")) || str_eq(o->type, S("postgres"));
    default: return false;
    }
}

static bool in_one_place(const Object *x, const Object *y) { return str_eq(x->schema, y->schema) && str_eq(x->database, y->database); }

typedef struct Counts { size_t there[LIMITS], more[LIMITS]; } Counts;

static void count(const ObjectVec *all, const Object *made, const Object *of, Counts *c)
{
    LiveLimit which;

    for vec_each(const Object, o, all) {
        if (counts_as(o, &which))
            c->there[which]++;
        c->there[LIMIT_SCHEMA_OBJECTS] += in_one_place(o, of);
    }
    if (counts_as(made, &which))
        c->more[which]++;
}

/* Of those alone that are new; several of one statement are counted as they come. */
Status live_limit_objects(Run *r, const Object *o, size_t n, Error *err)
{
    ObjectVec all = {0};

    for (size_t i = 0; i < n; i++) {
        Counts c = {0};
        if (objects_known(r->svc->objects, o[i].id))
            continue;
        if (!all.n)
            objects_list(r->svc->objects, r->a, &all);
        count(&all, &o[i], &o[i], &c);
        c.more[LIMIT_SCHEMA_OBJECTS] = 1;
        for (int k = 0; k < LIMITS; k++)
            TRY(live_limit(r->svc, (LiveLimit)k, c.there[k], c.more[k], err));
        TRY(live_check_ident(o[i].name, err));
        vec_push(r->a, &all, o[i]);
    }
    return OK;
}

Status live_check_ident(Str name, Error *err)
{
    if (name.n <= IDENT_MAX)
        return OK;
    return live_refuse(FAIL(err, E_INVALID, "identifier too long (len: %zu, max: %d, value: \"" STR_FMT "\")", name.n, IDENT_MAX, STR_ARG(name)), "42622", err);
}
