/* SPDX-License-Identifier: Apache-2.0 */
/* realm_rights.c - privileges: who holds what, by whom; letters and words. */
#include "service/realm_int.h"

enum { MEMBER_DEPTH = 64 };

static const struct { char letter; const char *word; } privileges[] = {
    { 'a', "INSERT" }, { 'r', "SELECT" }, { 'w', "UPDATE" }, { 'd', "DELETE" }, { 'U', "USAGE" }, { 'C', "CREATE" }, { 'R', "CREATEROLE" }, { 'B', "CREATEDB" },
    { 'N', "CREATECLUSTER" }, { 'P', "CREATENETWORKPOLICY" },
};

const char *realm_privilege_word(char letter)
{
    for (size_t i = 0; i < COUNT_OF(privileges); i++)
        if (privileges[i].letter == letter)
            return privileges[i].word;
    return "UNKNOWN";
}

char realm_privilege_letter(Str word)
{
    for (size_t i = 0; i < COUNT_OF(privileges); i++)
        if (str_ieq(word, str_c(privileges[i].word)))
            return privileges[i].letter;
    return 0;
}

/* ---- members: the lock is held ------------------------------------------------------------------------------------------- */

static const RealmRole *role_by_id(const Realm *r, Str id)
{
    for (size_t i = 0; i < r->roles.n; i++)
        if (str_eq(r->roles.p[i].id, id))
            return &r->roles.p[i];
    return NULL;
}

static bool member(const Realm *r, Str role, Str of, int depth)
{
    const RealmRole *e = str_eq(role, of) ? NULL : role_by_id(r, role);

    if (str_eq(role, of) || str_eq(of, S(REALM_PUBLIC)))
        return true;
    for (size_t i = 0; e && depth < MEMBER_DEPTH && i < e->member_of.n; i++)
        if (member(r, e->member_of.p[i].role, of, depth + 1))
            return true;
    return false;
}

bool realm_is_member(Realm *r, Str role, Str of)
{
    pthread_mutex_lock(&r->lock);
    bool is = member(r, role, of, 0);
    pthread_mutex_unlock(&r->lock);
    return is;
}

static bool superuser(const Realm *r, Str role)
{
    const RealmRole *e = role_by_id(r, role);
    return e && e->superuser;
}

bool realm_is_superuser(Realm *r, Str role)
{
    pthread_mutex_lock(&r->lock);
    bool is = superuser(r, role);
    pthread_mutex_unlock(&r->lock);
    return is;
}

static bool holds(const Realm *r, Str role, Str owner, const RealmGrants *grants, char letter)
{
    if (superuser(r, role) || (owner.n && member(r, role, owner, 0)))
        return true;
    for (size_t i = 0; i < grants->n; i++)
        if (str_chr(grants->p[i].letters, letter) >= 0 && member(r, role, grants->p[i].grantee, 0))
            return true;
    return false;
}

bool realm_holds(Realm *r, Str role, Str owner, const RealmGrants *grants, char letter)
{
    pthread_mutex_lock(&r->lock);
    bool yes = holds(r, role, owner, grants, letter);
    pthread_mutex_unlock(&r->lock);
    return yes;
}

RealmUse realm_may_use(Realm *r, Str cluster, Str role)
{
    RealmUse use = CLUSTER_UNKNOWN;

    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->clusters.n; i++) {
        const RealmCluster *c = &r->clusters.p[i];
        if (!str_eq(c->name, cluster))
            continue;
        use = !holds(r, role, c->owner, &c->grants, 'U') ? CLUSTER_DENIED : c->replicas.n ? CLUSTER_USABLE : CLUSTER_PAUSED;
    }
    pthread_mutex_unlock(&r->lock);
    return use;
}

/* ---- grants ------------------------------------------------------------------------------------------------------------------ */

static Str with(Arena *a, Str letters, Str more)
{
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < COUNT_OF(privileges); i++)
        if (str_chr(letters, privileges[i].letter) >= 0 || str_chr(more, privileges[i].letter) >= 0)
            sb_byte(&b, privileges[i].letter);
    return sb_str(&b);
}

void realm_grant(Arena *a, RealmGrants *g, Str grantee, Str grantor, Str letters)
{
    for (size_t i = 0; i < g->n; i++)
        if (str_eq(g->p[i].grantee, grantee) && str_eq(g->p[i].grantor, grantor)) {
            g->p[i].letters = with(a, g->p[i].letters, letters);
            return;
        }
    RealmGrant one = { .grantee = str_dup(a, grantee), .grantor = str_dup(a, grantor), .letters = with(a, letters, (Str){0}) };
    vec_push(a, g, one);
}

static Str without(Arena *a, Str letters, Str gone)
{
    StrBuf b = sb_new(a);

    for (size_t i = 0; i < letters.n; i++)
        if (str_chr(gone, letters.p[i]) < 0)
            sb_byte(&b, letters.p[i]);
    return sb_str(&b);
}

void realm_revoke(Arena *a, RealmGrants *g, Str grantee, Str letters)
{
    size_t k = 0;

    for (size_t i = 0; i < g->n; i++) {
        if (str_eq(g->p[i].grantee, grantee))
            g->p[i].letters = without(a, g->p[i].letters, letters);
        if (g->p[i].letters.n)
            g->p[k++] = g->p[i];
    }
    g->n = k;
}

Str realm_grant_text(Realm *r, Arena *a, const RealmGrant *g)
{
    Str grantee = str_eq(g->grantee, S(REALM_PUBLIC)) ? (Str){0} : realm_role_name(r, a, g->grantee);
    return str_fmt(a, STR_FMT "=" STR_FMT "/" STR_FMT, STR_ARG(grantee), STR_ARG(g->letters), STR_ARG(realm_role_name(r, a, g->grantor)));
}
