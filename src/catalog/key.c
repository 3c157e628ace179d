/* SPDX-License-Identifier: Apache-2.0 */
/* key.c - access keys and sessions, and small documents of upper rooms.
 *
 * Secrets and session tokens are sealed (AES-256-GCM) with catalog.key: a copy of catalog.db alone gives no access. */
#include "catalog/catalog_int.h"

#define KEY_COLUMNS "id, secret, token, principal, created_ms, expires_ms, scope, active"

static Status insert_key(Db *db, Arena *a, const CatKey *k, Error *err)
{
    Str secret = {0}, token = {0};

    TRY(aes_seal(a, db->catalog->seal_key, k->secret, &secret, err));
    TRY(aes_seal(a, db->catalog->seal_key, k->token, &token, err));
    QUERY(q, db, "INSERT OR REPLACE INTO access_key(" KEY_COLUMNS ") VALUES(?,?,?,?,?,?,?,?)", err);
    cq_text(&q, k->id);
    cq_blob(&q, secret);
    cq_blob(&q, token);
    cq_text(&q, k->principal);
    cq_int(&q, k->created_ms ? k->created_ms : clock_ms());
    cq_int(&q, k->expires_ms);
    cq_json(&q, a, k->scope);
    cq_int(&q, k->active);
    return cq_run(&q);
}

Status cat_seal(Catalog *c, Arena *a, Str plain, Str *ret, Error *err)
{
    Str bytes;

    TRY(aes_seal(a, c->seal_key, plain, &bytes, err));
    *ret = base64_encode(a, bytes);
    return OK;
}

Status cat_unseal(Catalog *c, Arena *a, Str sealed, Str *ret, Error *err)
{
    Str bytes;

    TRY(base64_decode(a, sealed, &bytes, err));
    return aes_open(a, c->seal_key, bytes, ret, err);
}

Status cat_key_put(Catalog *c, const CatKey *k, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(cat_writer_endp) Db *db = NULL;

    if (k->id.n == 0 || k->secret.n == 0 || k->principal.n == 0)
        return FAIL(err, E_INVALID, "an access key needs an id, a secret and a principal");
    TRY(cat_writer_begin(c, &db, err));
    TRY(insert_key(db, a, k, err));
    return cat_writer_commit(&db, err);
}

Status cat_key_get(Catalog *c, Arena *a, Str id, CatKey *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;
    CatKey k = {0};

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT " KEY_COLUMNS " FROM access_key WHERE id = ?", err);
    cq_text(&q, id);
    if (!cq_next(&q)) {
        TRY(cq_status(&q));
        return FAIL(err, E_NOT_FOUND, "no access key " STR_FMT, STR_ARG(id));
    }
    k.id = cq_str(&q, a);
    k.secret = cq_str(&q, a);
    k.token = cq_str(&q, a);
    k.principal = cq_str(&q, a);
    k.created_ms = cq_i64(&q);
    k.expires_ms = cq_i64(&q);
    k.scope = cq_doc(&q, a);
    k.active = (int)cq_i64(&q);
    TRY(cq_status(&q));
    TRY_CTX(aes_open(a, c->seal_key, k.secret, &k.secret, err), err, "opening key " STR_FMT, STR_ARG(id));
    TRY_CTX(aes_open(a, c->seal_key, k.token, &k.token, err), err, "opening key " STR_FMT, STR_ARG(id));
    *ret = k;
    return OK;
}

Status cat_key_delete(Catalog *c, Str id, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    {
        QUERY(q, db, "DELETE FROM access_key WHERE id = ?", err);
        cq_text(&q, id);
        TRY(cq_run(&q));
        if (cq_changed(&q) == 0)
            return FAIL(err, E_NOT_FOUND, "no access key " STR_FMT, STR_ARG(id));
    }
    return cat_writer_commit(&db, err);
}

Status cat_key_expire(Catalog *c, int64_t now_ms, Error *err)
{
    CLEANUP(cat_writer_endp) Db *db = NULL;

    TRY(cat_writer_begin(c, &db, err));
    {
        QUERY(q, db, "DELETE FROM access_key WHERE expires_ms > 0 AND expires_ms <= ?", err);
        cq_int(&q, now_ms);
        TRY(cq_run(&q));
    }
    return cat_writer_commit(&db, err);
}

/* ---- documents ------------------------------------------------------------------------------------------------------ */

Status cat_doc_write(Db *db, Str kind, Str key, const Json *value, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    if (!value) {
        QUERY(del, db, "DELETE FROM doc WHERE kind = ? AND key = ?", err);
        cq_text(&del, kind);
        cq_text(&del, key);
        return cq_run(&del);
    }
    QUERY(q, db, "INSERT OR REPLACE INTO doc(kind, key, value) VALUES(?, ?, ?)", err);
    cq_text(&q, kind);
    cq_text(&q, key);
    cq_json(&q, a, value);
    return cq_run(&q);
}

Status cat_doc_get(Catalog *c, Arena *a, Str kind, Str key, Json **ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, "SELECT value FROM doc WHERE kind = ? AND key = ?", err);
    cq_text(&q, kind);
    cq_text(&q, key);
    if (cq_next(&q))
        *ret = cq_doc(&q, a);
    else if (cq_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "no " STR_FMT " '" STR_FMT "'", STR_ARG(kind), STR_ARG(key));
    return cq_status(&q);
}

/* The first text behind all that begin with the prefix: bounds the search, however many others there are. */
static Str first_behind(Arena *a, Str prefix)
{
    char *p = str_z(a, prefix);

    if (prefix.n > 0)
        p[prefix.n - 1]++;                 /* never 0xFF: keys are UTF-8 */
    return (Str){ p, prefix.n };
}

Status cat_doc_list(Catalog *c, Arena *a, Str kind, Str prefix, CatDocs *ret, Error *err)
{
    CLEANUP(cat_reader_backp) Db *db = NULL;

    *ret = (CatDocs){0};
    TRY(cat_reader_take(c, &db, err));
    QUERY(q, db, prefix.n > 0 ? "SELECT kind, key, value FROM doc WHERE kind = ?1 AND key >= ?2 AND key < ?3 ORDER BY key"
                              : "SELECT kind, key, value FROM doc WHERE kind = ?1 ORDER BY key", err);
    cq_text(&q, kind);
    if (prefix.n > 0) {
        cq_text(&q, prefix);
        cq_text(&q, first_behind(a, prefix));
    }
    while (cq_next(&q)) {
        CatDoc d = {0};
        d.kind = cq_str(&q, a);
        d.key = cq_str(&q, a);
        d.value = cq_doc(&q, a);
        vec_push(a, ret, d);
    }
    return cq_status(&q);
}
