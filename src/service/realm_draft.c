/* SPDX-License-Identifier: Apache-2.0 */
/* realm_draft.c - a copy of the realm that remembers what it would have stored, and how the realm takes that over.
 *
 * A transaction's ALTER … RENAME and SWAP are tried on a draft; at COMMIT the catalog stores the draft's documents in one step with the objects', and the realm adopts them. */
#include "service/realm_int.h"

static bool is_role(const CatChange *c) { return str_starts(c->doc_key, S("role/")); }

Status realm_commit(Realm *r, CatChange *ch, size_t n, Error *err)
{
    if (r->catalog)
        TRY(cat_commit(r->catalog, ch, n, err));
    r->revision += !is_role(&ch[0]);
    for (size_t i = 0; !r->catalog && i < n; i++) {
        CatChange mine = { .kind = CH_DOC, .doc_kind = S(REALM_KIND), .doc_key = str_dup(r->a, ch[i].doc_key), .doc = ch[i].doc ? json_copy(r->a, ch[i].doc) : NULL };
        if (!str_eq(mine.doc_key, S("next")))             /* names alone change in a draft: no number is given */
            vec_push(r->a, &r->changes, mine);
    }
    return OK;
}

Realm *realm_draft(Realm *of)
{
    Realm *r = realm_new(NULL);

    realm_databases(of, r->a, &r->databases);
    realm_schemas(of, r->a, &r->schemas);
    realm_clusters(of, r->a, &r->clusters);
    realm_roles(of, r->a, &r->roles);
    realm_defaults(of, r->a, &r->defaults);
    realm_system_grants(of, r->a, &r->system);
    realm_settings(of, r->a, &r->settings);
    return r;
}

const RealmChanges *realm_draft_changes(const Realm *draft) { return &draft->changes; }

static Str id_of(const CatChange *c, const char *class)
{
    return str_sub(c->doc_key, strlen(class) + 1, c->doc_key.n);
}

static void adopt(Realm *r, const CatChange *c)
{
    if (str_starts(c->doc_key, S("database/"))) {
        RealmDatabase *d = realm_database_of_id(r, id_of(c, "database"));
        if (d)
            *d = realm_database_of(r->a, c->doc);
    } else if (str_starts(c->doc_key, S("schema/"))) {
        RealmSchema *s = realm_schema_of_id(r, id_of(c, "schema"));
        if (s)
            *s = realm_schema_of(r->a, c->doc);
    } else if (str_starts(c->doc_key, S("cluster/"))) {
        RealmCluster *k = realm_cluster_of_id(r, id_of(c, "cluster"));
        if (k)
            *k = realm_cluster_of(r->a, c->doc);
    }
}

void realm_adopt(Realm *r, const RealmChanges *stored)
{
    pthread_mutex_lock(&r->lock);
    for vec_each(CatChange, c, stored)
        adopt(r, c);
    r->revision++;
    pthread_mutex_unlock(&r->lock);
}

int64_t realm_revision(Realm *r)
{
    pthread_mutex_lock(&r->lock);
    int64_t revision = r->revision;
    pthread_mutex_unlock(&r->lock);
    return revision;
}
