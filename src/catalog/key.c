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
    q_text(&q, k->id);
    q_blob(&q, secret);
    q_blob(&q, token);
    q_text(&q, k->principal);
    q_int(&q, k->created_ms ? k->created_ms : clock_ms());
    q_int(&q, k->expires_ms);
    q_json(&q, a, k->scope);
    q_int(&q, k->active);
    return q_run(&q);
}

Status cat_key_put(Catalog *c, const CatKey *k, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    CLEANUP(writer_endp) Db *db = NULL;

    if (k->id.n == 0 || k->secret.n == 0 || k->principal.n == 0)
        return FAIL(err, E_INVALID, "an access key needs an id, a secret and a principal");
    TRY(writer_begin(c, &db, err));
    TRY(insert_key(db, a, k, err));
    return writer_commit(&db, err);
}

Status cat_key_get(Catalog *c, Arena *a, Str id, CatKey *ret, Error *err)
{
    CLEANUP(reader_backp) Db *db = NULL;
    CatKey k = {0};

    TRY(reader_take(c, &db, err));
    QUERY(q, db, "SELECT " KEY_COLUMNS " FROM access_key WHERE id = ?", err);
    q_text(&q, id);
    if (!q_next(&q)) {
        TRY(q_status(&q));
        return FAIL(err, E_NOT_FOUND, "no access key " STR_FMT, STR_ARG(id));
    }
    k.id = q_str(&q, a);
    k.secret = q_str(&q, a);
    k.token = q_str(&q, a);
    k.principal = q_str(&q, a);
    k.created_ms = q_i64(&q);
    k.expires_ms = q_i64(&q);
    k.scope = q_doc(&q, a);
    k.active = (int)q_i64(&q);
    TRY(q_status(&q));
    TRY_CTX(aes_open(a, c->seal_key, k.secret, &k.secret, err), err, "opening key " STR_FMT, STR_ARG(id));
    TRY_CTX(aes_open(a, c->seal_key, k.token, &k.token, err), err, "opening key " STR_FMT, STR_ARG(id));
    *ret = k;
    return OK;
}

Status cat_key_delete(Catalog *c, Str id, Error *err)
{
    CLEANUP(writer_endp) Db *db = NULL;

    TRY(writer_begin(c, &db, err));
    {
        QUERY(q, db, "DELETE FROM access_key WHERE id = ?", err);
        q_text(&q, id);
        TRY(q_run(&q));
        if (q_changed(&q) == 0)
            return FAIL(err, E_NOT_FOUND, "no access key " STR_FMT, STR_ARG(id));
    }
    return writer_commit(&db, err);
}

Status cat_key_expire(Catalog *c, int64_t now_ms, Error *err)
{
    CLEANUP(writer_endp) Db *db = NULL;

    TRY(writer_begin(c, &db, err));
    {
        QUERY(q, db, "DELETE FROM access_key WHERE expires_ms > 0 AND expires_ms <= ?", err);
        q_int(&q, now_ms);
        TRY(q_run(&q));
    }
    return writer_commit(&db, err);
}

/* ---- documents ------------------------------------------------------------------------------------------------------ */

Status doc_write(Db *db, Str kind, Str key, const Json *value, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    if (!value) {
        QUERY(del, db, "DELETE FROM doc WHERE kind = ? AND key = ?", err);
        q_text(&del, kind);
        q_text(&del, key);
        return q_run(&del);
    }
    QUERY(q, db, "INSERT OR REPLACE INTO doc(kind, key, value) VALUES(?, ?, ?)", err);
    q_text(&q, kind);
    q_text(&q, key);
    q_json(&q, a, value);
    return q_run(&q);
}

Status cat_doc_get(Catalog *c, Arena *a, Str kind, Str key, Json **ret, Error *err)
{
    CLEANUP(reader_backp) Db *db = NULL;

    TRY(reader_take(c, &db, err));
    QUERY(q, db, "SELECT value FROM doc WHERE kind = ? AND key = ?", err);
    q_text(&q, kind);
    q_text(&q, key);
    if (q_next(&q))
        *ret = q_doc(&q, a);
    else if (q_status(&q) == OK)
        return FAIL(err, E_NOT_FOUND, "no " STR_FMT " '" STR_FMT "'", STR_ARG(kind), STR_ARG(key));
    return q_status(&q);
}

Status cat_doc_list(Catalog *c, Arena *a, Str kind, Str prefix, CatDocs *ret, Error *err)
{
    CLEANUP(reader_backp) Db *db = NULL;

    *ret = (CatDocs){0};
    TRY(reader_take(c, &db, err));
    QUERY(q, db, "SELECT kind, key, value FROM doc WHERE kind = ?1 AND key >= ?2 AND substr(key, 1, length(?2)) = ?2 ORDER BY key", err);
    q_text(&q, kind);
    q_text(&q, prefix);
    while (q_next(&q)) {
        CatDoc d = {0};
        d.kind = q_str(&q, a);
        d.key = q_str(&q, a);
        d.value = q_doc(&q, a);
        vec_push(a, ret, d);
    }
    return q_status(&q);
}
