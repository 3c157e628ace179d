/* SPDX-License-Identifier: Apache-2.0 */
/* live_block.c - statements that change names inside of BEGIN … COMMIT, as Materialize has it.
 *
 * A block changes names by one statement alone, or by any number of CREATE SOURCE, CREATE TABLE … FROM SOURCE, ALTER … RENAME and SWAP; it does nothing else.  All of them take
 * effect at COMMIT, together, and none when the block is rolled back.  A single statement is answered at once and carried out by COMMIT, which says its error.
 *
 * Renames are tried when they are given, on a draft of the names that has the block's earlier ones; COMMIT tries all again and stores what the draft holds in one step of the
 * catalog.  What creates is carried out at COMMIT before them, one after another, and dropped again when a later one fails.
 *
 * Invariants: (1) nobody else changed names between a block's first rename and its COMMIT; (2) in a draft nothing is told: hooks and the audit log hear of it after the commit. */
#include "service/live_sql.h"

typedef enum { BLOCK_ANY, BLOCK_SINGLE, BLOCK_CREATES, BLOCK_RENAMES, BLOCK_NEVER } BlockKind;
typedef struct BlockStmt { Str text; Dialect dialect; BlockKind kind; } BlockStmt;
struct LiveBlock { Arena *a; VEC(BlockStmt) stmts; bool single; int64_t revision; };

/* ---- what a statement is ------------------------------------------------------------------------------------------------------ */

static BlockKind kind_of_alter(const LiveStmt *l)
{
    if (l->kind != LK_ROLE && (l->alter == ALTER_RENAME || l->alter == ALTER_SWAP))
        return BLOCK_RENAMES;
    return l->kind == LK_ROLE || l->kind == LK_SYSTEM ? BLOCK_SINGLE : BLOCK_NEVER;
}

static BlockKind kind_of(const Stmt *st, const LiveStmt *l)
{
    if (st->kind == ST_GRANT || st->kind == ST_REVOKE || st->kind == ST_VALIDATE)
        return BLOCK_SINGLE;
    switch (l->verb) {
    case LV_CREATE: return (l->kind == LK_SOURCE && !str_eq(l->type, S("webhook"))) || (l->kind == LK_TABLE && l->from.n) ? BLOCK_CREATES : BLOCK_SINGLE;
    case LV_ALTER: return kind_of_alter(l);
    case LV_DROP: return BLOCK_NEVER;
    case LV_DROP_OWNED: case LV_REASSIGN_OWNED: case LV_COMMENT: return BLOCK_SINGLE;
    }
    return BLOCK_ANY;
}

/* Is its object one of the live side, or would it be made there? What is in doubt is left to who carries it out. */
static bool is_here(Run *r, const LiveStmt *l)
{
    const StrVec *name = &r->st->name;
    Error absent;
    LiveName n;
    Object o;
    int live;

    if (r->st->kind == ST_LIVE || r->st->kind == ST_GRANT || r->st->kind == ST_REVOKE || r->st->kind == ST_VALIDATE || l->kind == LK_DATABASE)
        return true;
    if (l->kind == LK_SCHEMA)
        return realm_has_database(r->svc->realm, name->n > 1 ? name->p[name->n - 2] : live_database(r));
    if (l->verb == LV_CREATE)
        return live_name_new(r, name, &n, &live, &absent) == OK && live;
    return live_find_object(r, r->a, name, &o, &absent) == OK;
}

/* ---- what may be together ------------------------------------------------------------------------------------------------------ */

static Status bad_state(Error *err, const char *why)
{
    RAISE(err, E_INVALID, "%s", why);
    return live_refuse(E_INVALID, "25000", err);
}

static Status refuse_mixed(const LiveBlock *b, Error *err)
{
    return bad_state(err, b->single ? "this transaction can only execute a single statement" : "transactions which modify objects are restricted to just modifying objects");
}

static bool needs_nothing(StmtKind k)
{
    switch (k) {
    case ST_BEGIN: case ST_COMMIT: case ST_ROLLBACK: case ST_SET: case ST_RESET: case ST_SHOW_SETTING: case ST_PREPARE: case ST_DEALLOCATE: case ST_DISCARD: case ST_CLOSE:
    case ST_NOOP: return true;
    default: return false;
    }
}

Status live_block_may_run(const Session *ss, const Stmt *st, Error *err)
{
    bool names = st->kind == ST_LIVE || st->kind == ST_VALIDATE || st->kind == ST_GRANT || st->kind == ST_REVOKE || (st->kind >= ST_CREATE_TABLE && st->kind <= ST_ALTER_MV && st->kind != ST_USE);

    if (!ss->live_block || names || needs_nothing(st->kind))
        return OK;
    return refuse_mixed(ss->live_block, err);
}

static Status prohibits(const Run *r, Error *err)
{
    Str text = str_trim(str_sub(r->text, (size_t)r->st->start, (size_t)r->st->end));

    RAISE(err, E_INVALID, STR_FMT " cannot be run inside a transaction block", STR_ARG(text));
    return live_refuse(E_INVALID, "25001", err);
}

static Status may_join(const Run *r, BlockKind kind, Error *err)
{
    const LiveBlock *b = r->ss->live_block;

    if (b && (b->single || kind == BLOCK_SINGLE))
        return refuse_mixed(b, err);
    if (r->ss->live_tx)
        return bad_state(err, "transaction in write-only mode");
    return r->nparams ? live_refuse(FAIL(err, E_UNSUPPORTED, "statements that change names have no parameters"), "0A000", err) : OK;
}

/* ---- trying renames -------------------------------------------------------------------------------------------------------------- */

/* Told after the commit. */
typedef struct Told { const char *event, *type; Json *details; } Told;
struct LiveDraft { Service svc; Arena *a; ObjectVec renamed; VEC(Told) told; };

void live_draft_renamed(struct LiveDraft *d, const Object *o) { vec_push(d->a, &d->renamed, *o); }

void live_draft_audit(struct LiveDraft *d, const char *event, const char *type, Json *details)
{
    Told t = { event, type, details };
    vec_push(d->a, &d->told, t);
}

static void draft_done(struct LiveDraft *d)
{
    objects_close(d->svc.objects);
    realm_close(d->svc.realm);
}

static void draft_of(Run *r, struct LiveDraft *ret)
{
    *ret = (struct LiveDraft){ .svc = *r->svc, .a = r->a };
    ret->svc.objects = objects_draft(r->svc->objects);
    ret->svc.realm = realm_draft(r->svc->realm);
}

static Status parse_one(Arena *a, const BlockStmt *b, Stmt **ret, Error *err)
{
    StmtVec all = {0};

    TRY(sql_parse(a, b->dialect, b->text, &all, err));
    if (all.n != 1)
        return FAIL(err, E_INTERNAL, "a statement of a transaction is none any more");
    *ret = all.p[0];
    return OK;
}

static Status try_one(Run *r, struct LiveDraft *d, const BlockStmt *b, LiveDone *done, Error *err)
{
    Run mine = { .ss = r->ss, .svc = &d->svc, .a = r->a, .c = r->c, .dialect = b->dialect, .now_us = r->now_us, .text = b->text, .draft = d };
    Rows unused = { .run = mine };
    Stmt *st;

    TRY(parse_one(r->a, b, &st, err));
    mine.st = st;
    return live_statement_now(&mine, &unused, done, err);
}

/* Notices of what was tried before were sent then. */
static Status try_all(Run *r, const LiveBlock *b, struct LiveDraft *d, const BlockStmt *last, LiveDone *done, Error *err)
{
    size_t notices = r->ss->notices.n;

    for (size_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.p[i].kind == BLOCK_RENAMES)
            TRY(try_one(r, d, &b->stmts.p[i], done, err));
    r->ss->notices.n = notices;
    return last ? try_one(r, d, last, done, err) : OK;
}

/* ---- giving ------------------------------------------------------------------------------------------------------------------------ */

static int64_t revision(const Service *s) { return objects_revision(s->objects) + realm_revision(s->realm); }

static LiveBlock *block_of(Session *ss)
{
    if (!ss->live_block) {
        Arena *a = arena_create();
        ss->live_block = arena_new(a, LiveBlock);
        *ss->live_block = (LiveBlock){ .a = a, .revision = revision(ss->svc) };
    }
    return ss->live_block;
}

static Status check_race(const Service *s, const LiveBlock *b, Error *err)
{
    if (b->revision == revision(s))
        return OK;
    RAISE(err, E_CONFLICT, "another session modified the catalog while this DDL transaction was open");
    return live_refuse(E_CONFLICT, "40001", err);
}

static bool has_creates(const LiveBlock *b)
{
    for (size_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.p[i].kind == BLOCK_CREATES)
            return true;
    return false;
}

/* What the block itself will create is not there to be tried on. *done 0: the name is one of the lake. */
static Status try_rename(Run *r, const BlockStmt *s, LiveDone *done, Error *err)
{
    const LiveBlock none = {0}, *b = r->ss->live_block ? r->ss->live_block : &none;
    struct LiveDraft d;

    done->done = 1;
    if (has_creates(b))
        return OK;
    if (r->ss->live_block)
        TRY(check_race(r->svc, b, err));
    draft_of(r, &d);
    Status st = try_all(r, b, &d, s, done, err);
    draft_done(&d);
    return st;
}

Status live_block_take(Run *r, const LiveStmt *l, LiveWait *ret, Error *err)
{
    LiveDone found;
    BlockStmt s = { .text = str_sub(r->text, (size_t)r->st->start, (size_t)r->st->end), .dialect = r->dialect, .kind = kind_of(r->st, l) };

    *ret = BLOCK_NOW;
    if (s.kind == BLOCK_ANY || (s.kind != BLOCK_RENAMES && !is_here(r, l)))
        return OK;
    if (s.kind == BLOCK_NEVER)
        return prohibits(r, err);
    TRY(may_join(r, s.kind, err));
    *ret = BLOCK_WAITS;
    if (s.kind == BLOCK_RENAMES)
        TRY(try_rename(r, &s, &found, err));
    if (s.kind == BLOCK_CREATES && r->ss->live_block && r->ss->live_block->stmts.n && vec_last(&r->ss->live_block->stmts).kind == BLOCK_RENAMES)
        return live_refuse(FAIL(err, E_UNSUPPORTED, "in a transaction CREATE comes before ALTER"), "0A000", err);
    if (s.kind == BLOCK_RENAMES && !found.done) {
        *ret = BLOCK_LAKE;
        return OK;
    }
    LiveBlock *b = block_of(r->ss);
    b->single = s.kind == BLOCK_SINGLE;
    s.text = str_dup(b->a, s.text);
    vec_push(b->a, &b->stmts, s);
    r->live_staged = 1;
    return OK;
}

/* ---- COMMIT -------------------------------------------------------------------------------------------------------------------------- */

static Status carry_out(Session *ss, const BlockStmt *b, Error *err)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Batch *batch;
    Rows *rows;
    size_t n;

    TRY(session_parse(ss, a, b->text, &batch, &n, err));
    TRY(session_run(ss, batch, 0, NULL, 0, &rows, err));
    rows_close(rows);
    return OK;
}

static Status carry_out_creates(Session *ss, const LiveBlock *b, Error *err)
{
    for (size_t i = 0; i < b->stmts.n; i++)
        if (b->stmts.p[i].kind != BLOCK_RENAMES)
            TRY(carry_out(ss, &b->stmts.p[i], err));
    return OK;
}

static void tell(Run *r, const struct LiveDraft *d)
{
    for vec_each(Object, o, &d->renamed)
        if (live_hooks(o->kind)->renamed)
            live_hooks(o->kind)->renamed(r->svc, o);
    for (size_t i = 0; i < d->told.n; i++)
        live_audit(r, d->told.p[i].event, d->told.p[i].type, NULL, d->told.p[i].details);
}

static Status store(Run *r, const struct LiveDraft *d, Error *err)
{
    const RealmChanges *places = realm_draft_changes(d->svc.realm);
    ObjectVec puts = {0};

    objects_draft_puts(d->svc.objects, r->a, &puts);
    ObjChanges ch = { .puts = puts.p, .nputs = puts.n, .also = places->p, .nalso = places->n };
    TRY(objects_change(r->svc->objects, &ch, err));
    realm_adopt(r->svc->realm, places);
    tell(r, d);
    return OK;
}

static Status carry_out_renames(Run *r, const LiveBlock *b, Error *err)
{
    struct LiveDraft d;
    LiveDone done;

    if (vec_last(&b->stmts).kind != BLOCK_RENAMES)
        return OK;
    draft_of(r, &d);
    Status s = try_all(r, b, &d, NULL, &done, err);
    if (s == OK)
        s = store(r, &d, err);
    draft_done(&d);
    return s;
}

static Status carry_out_all(Run *r, const LiveBlock *b, Error *err)
{
    if (b->single)
        return carry_out(r->ss, &b->stmts.p[0], err);
    realm_ddl_begin(r->svc->realm);
    Status s = check_race(r->svc, b, err);
    if (s == OK)
        s = carry_out_creates(r->ss, b, err);
    if (s == OK)
        s = carry_out_renames(r, b, err);
    realm_ddl_end(r->svc->realm);
    return s;
}

Status live_block_commit(Run *r, Error *err)
{
    Session *ss = r->ss;
    LiveBlock *b = ss->live_block;

    if (!b)
        return OK;
    ss->live_block = NULL;
    ss->live_committing = 1;
    Status s = carry_out_all(r, b, err);
    ss->live_committing = 0;
    if (s != OK)
        live_session_undo(ss);
    ss->live_made.n = 0;
    arena_destroy(b->a);
    return s;
}

void live_block_forget(Session *ss)
{
    if (ss->live_block)
        arena_destroy(ss->live_block->a);
    ss->live_block = NULL;
}
