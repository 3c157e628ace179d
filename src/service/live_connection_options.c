/* SPDX-License-Identifier: Apache-2.0 */
/* live_connection_options.c - options of a connection: read one by one, names resolved, written back as a statement.
 *
 * Each option has one form for all types (a text, a number, a secret, an object, a list); which ones a type takes is said in its table.  Order of the checks: names, forms
 * and doubled options as they stand, then what the type does not take, then the type's rules (live_connection_plan.c).
 * Invariant: a secret is an object's number from here on; its text is read by who sends it. */
#include "service/live_connection_int.h"

typedef enum { FORM_TEXT, FORM_NUMBER, FORM_SECRET, FORM_TEXT_OR_SECRET, FORM_OBJECT, FORM_BROKERS, FORM_TEXTS, FORM_BOOL } OptionForm;

static const struct { const char *name; OptionForm form; } forms[] = {
    { "ACCESS DELEGATION", FORM_TEXT }, { "ACCESS KEY ID", FORM_TEXT_OR_SECRET }, { "ASSUME ROLE ARN", FORM_TEXT }, { "ASSUME ROLE SESSION NAME", FORM_TEXT },
    { "AVAILABILITY ZONES", FORM_TEXTS }, { "AWS CONNECTION", FORM_OBJECT }, { "AWS PRIVATELINK", FORM_OBJECT }, { "BEARER TOKEN", FORM_SECRET }, { "BROKER", FORM_BROKERS },
    { "BROKERS", FORM_BROKERS }, { "CATALOG TYPE", FORM_TEXT }, { "CREDENTIAL", FORM_TEXT_OR_SECRET }, { "DATABASE", FORM_TEXT }, { "ENDPOINT", FORM_TEXT },
    { "GCP CONNECTION", FORM_OBJECT }, { "HOST", FORM_TEXT }, { "OAUTH2 SERVER URL", FORM_TEXT }, { "PASSWORD", FORM_SECRET }, { "PORT", FORM_NUMBER },
    { "PROGRESS TOPIC", FORM_TEXT }, { "PROGRESS TOPIC REPLICATION FACTOR", FORM_NUMBER }, { "PUBLIC KEY 1", FORM_TEXT }, { "PUBLIC KEY 2", FORM_TEXT }, { "REGION", FORM_TEXT },
    { "REGISTRY", FORM_TEXT }, { "SASL MECHANISMS", FORM_TEXT }, { "SASL PASSWORD", FORM_SECRET }, { "SASL USERNAME", FORM_TEXT_OR_SECRET }, { "SCOPE", FORM_TEXT },
    { "SECRET ACCESS KEY", FORM_SECRET }, { "SECURITY PROTOCOL", FORM_TEXT }, { "SERVICE ACCOUNT KEY", FORM_SECRET }, { "SERVICE NAME", FORM_TEXT }, { "SESSION TOKEN", FORM_TEXT_OR_SECRET },
    { "SIGNING NAME", FORM_TEXT }, { "SIGNING REGION", FORM_TEXT },
    { "SSH TUNNEL", FORM_OBJECT }, { "SSL CERTIFICATE", FORM_TEXT_OR_SECRET }, { "SSL CERTIFICATE AUTHORITY", FORM_TEXT_OR_SECRET }, { "SSL KEY", FORM_SECRET }, { "SSL MODE", FORM_TEXT },
    { "STORAGE PROVIDER", FORM_TEXT }, { "URL", FORM_TEXT }, { "USER", FORM_TEXT_OR_SECRET }, { "WAREHOUSE", FORM_TEXT },
};

/* ---- what the options say ----------------------------------------------------------------------------------------------------------------------- */

bool conn_has(const Json *options, const char *name) { return json_get(options, name) != NULL; }

Str conn_text(const Json *options, const char *name)
{
    const Json *o = json_get(options, name);
    return json_get_str(o, "text", json_get_str(o, "number", (Str){0}));
}

int64_t conn_secret(const Json *options, const char *name) { return json_get_int(json_get(options, name), "secret", 0); }
int64_t conn_object(const Json *options, const char *name) { return json_get_int(json_get(options, name), "object", 0); }

/* ---- reading ------------------------------------------------------------------------------------------------------------------------------------- */

static Status bad_value(const LiveOption *o, const char *cause, Error *err)
{
    RAISE(err, E_INVALID, "invalid " STR_FMT " option value: %s", STR_ARG(o->name), cause);
    err->position = o->position;
    return E_INVALID;
}

static Json *one(Arena *a, const char *key, Json *v)
{
    Json *j = json_object(a);
    json_set(a, j, key, v);
    return j;
}

static Status read_secret(ConnPlan *p, const LiveOption *o, Json **ret, Error *err)
{
    Object secret;

    TRY(live_need(p->r, &o->names, -1, 'U', &secret, err));
    if (secret.kind != OBJ_SECRET)
        return FAIL(err, E_INVALID, STR_FMT " is not a secret", STR_ARG(secret.name));
    *ret = one(p->a, "secret", json_int(p->a, secret.id));
    return OK;
}

static Status read_object(ConnPlan *p, const LiveOption *o, Json **ret, Error *err)
{
    Object item;

    if (o->kind != OPT_NAME)
        return bad_value(o, "must provide an object", err);
    TRY(live_need(p->r, &o->names, -1, 'U', &item, err));
    if (item.kind != OBJ_CONNECTION)
        return FAIL(err, E_INVALID, STR_FMT " is not a connection", STR_ARG(item.name));
    *ret = one(p->a, "object", json_int(p->a, item.id));
    return OK;
}

/* Enumerated values may be written as identifiers: SASL MECHANISMS = PLAIN. */
static Status read_text(const LiveOption *o, Str *ret, Error *err)
{
    bool word = o->kind == OPT_NAME && o->names.n == 1;

    if (o->kind == OPT_NONE)
        return bad_value(o, "must provide a string value", err);
    if (o->kind != OPT_STRING && !word)
        return bad_value(o, "cannot use value as string", err);
    *ret = word ? o->names.p[0] : o->text;
    if (ret->n > CONNECTION_VALUE_MAX)
        return FAIL(err, E_LIMIT, "invalid " STR_FMT " option value: %zu bytes, the limit is %d", STR_ARG(o->name), ret->n, CONNECTION_VALUE_MAX);
    return OK;
}

static Status read_number(const LiveOption *o, Str *ret, Error *err)
{
    int64_t n, most = str_eq(o->name, S("PORT")) ? 65535 : INT32_MAX;

    if (o->kind != OPT_NUMBER)
        return bad_value(o, "cannot use value as number", err);
    if (!str_to_i64(o->text, &n))
        return bad_value(o, "invalid numeric value: invalid digit found in string", err);
    if (n < 0 || n > most)
        return bad_value(o, "invalid numeric value: number too large to fit in target type", err);
    *ret = o->text;
    return OK;
}

static Status no_tunnel(const LiveOption *o, Error *err)
{
    if (!o->list.n)
        return OK;
    return FAIL(err, E_UNSUPPORTED, STR_FMT " is not supported: firn connects to brokers directly", STR_ARG(o->list.p[0].name));
}

static Status push_text(ConnPlan *p, const LiveOption *o, const LiveOption *element, Json *list, Error *err)
{
    if (element->kind != OPT_STRING)
        return bad_value(o, "cannot use value as string", err);
    if (element->text.n > CONNECTION_VALUE_MAX)
        return bad_value(o, "it is too long", err);
    json_push(p->a, list, json_str(p->a, element->text));
    return OK;
}

/* BROKER 'h:1' USING …, BROKERS ('h:1', 'h:2'). */
static Status read_list(ConnPlan *p, const LiveOption *o, OptionForm form, Json **ret, Error *err)
{
    Json *list = json_array(p->a);

    if (o->kind != OPT_LIST) {
        TRY(push_text(p, o, o, list, err));
        if (form == FORM_BROKERS)
            TRY(no_tunnel(o, err));
    }
    for (size_t i = 0; o->kind == OPT_LIST && i < o->list.n; i++) {
        TRY(push_text(p, o, &o->list.p[i], list, err));
        if (form == FORM_BROKERS)
            TRY(no_tunnel(&o->list.p[i], err));
    }
    if (json_len(list) > CONNECTION_LIST_MAX)
        return bad_value(o, "too many elements", err);
    *ret = one(p->a, "list", list);
    return OK;
}

static Status read_value(ConnPlan *p, const LiveOption *o, OptionForm form, Json **ret, Error *err)
{
    Str text = {0};

    switch (form) {
    case FORM_SECRET:
        if (o->kind != OPT_SECRET)
            return bad_value(o, "must provide a secret value", err);
        return read_secret(p, o, ret, err);
    case FORM_TEXT_OR_SECRET:
        if (o->kind == OPT_SECRET)
            return read_secret(p, o, ret, err);
        break;
    case FORM_OBJECT:
        return read_object(p, o, ret, err);
    case FORM_BROKERS:
    case FORM_TEXTS:
        return read_list(p, o, form, ret, err);
    case FORM_NUMBER:
        TRY(read_number(o, &text, err));
        *ret = one(p->a, "number", json_str(p->a, text));
        return OK;
    case FORM_TEXT:
    case FORM_BOOL:
        break;
    }
    TRY(read_text(o, &text, err));
    *ret = one(p->a, "text", json_str(p->a, text));
    return OK;
}

static Status form_of(const LiveOption *o, OptionForm *ret, Error *err)
{
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        if (str_eq(o->name, str_c(forms[i].name))) {
            *ret = forms[i].form;
            return OK;
        }
    RAISE(err, E_SYNTAX, "unknown connection option " STR_FMT, STR_ARG(o->name));
    err->position = o->position;
    return E_SYNTAX;
}

Status conn_read_options(ConnPlan *p, const LiveOptions *given, Error *err)
{
    Map seen = map_new(p->a);

    if (given->n > CONNECTION_OPTIONS_MAX)
        return FAIL(err, E_LIMIT, "a connection has at most %d options", CONNECTION_OPTIONS_MAX);
    for (size_t i = 0; i < given->n; i++) {
        const LiveOption *o = &given->p[i];
        OptionForm form;
        Json *v;
        TRY(form_of(o, &form, err));
        if (map_has(&seen, o->name))
            return FAIL(err, E_INVALID, STR_FMT " specified more than once", STR_ARG(o->name));
        map_put(&seen, o->name, p);
        TRY(read_value(p, o, form, &v, err));
        json_set_s(p->a, p->options, o->name, v);
    }
    return OK;
}

static bool takes(const ConnType *t, Str name)
{
    for (const char *const *o = t->options; *o; o++)
        if (str_eq(name, str_c(*o)))
            return true;
    return false;
}

/* By name, as a set has them. */
static void sort(StrVec *v)
{
    for (size_t i = 1; i < v->n; i++)
        for (size_t k = i; k > 0 && str_cmp(v->p[k - 1], v->p[k]) > 0; k--) {
            Str x = v->p[k];
            v->p[k] = v->p[k - 1];
            v->p[k - 1] = x;
        }
}

Status conn_allowed(const ConnPlan *p, Error *err)
{
    StrVec wrong = {0};

    for (size_t i = 0; i < json_len(p->options); i++)
        if (!takes(p->type, p->options->object.p[i].key))
            vec_push(p->a, &wrong, p->options->object.p[i].key);
    sort(&wrong);
    if (!wrong.n)
        return OK;
    return FAIL(err, E_INVALID, "%s connections do not support " STR_FMT " values", p->type->title, STR_ARG(str_join(p->a, &wrong, S(", "))));
}

/* ---- writing ----------------------------------------------------------------------------------------------------------------------------------------- */

static Status name_of(Service *s, Arena *a, int64_t id, StrVec *ret, Error *err)
{
    Object o;

    TRY(objects_get(s->objects, a, id, &o, err));
    *ret = live_parts(a, &o);
    return OK;
}

static Status option_of(Service *s, Arena *a, Str name, const Json *v, LiveOption *ret, Error *err)
{
    const Json *list = json_get(v, "list");
    int64_t secret = json_get_int(v, "secret", 0), object = json_get_int(v, "object", 0);

    *ret = (LiveOption){ .name = name, .kind = OPT_STRING, .text = json_get_str(v, "text", (Str){0}) };
    if (json_get(v, "number")) {
        ret->kind = OPT_NUMBER;
        ret->text = json_get_str(v, "number", (Str){0});
    }
    if (secret || object) {
        ret->kind = secret ? OPT_SECRET : OPT_NAME;
        return name_of(s, a, secret ? secret : object, &ret->names, err);
    }
    if (list)
        ret->kind = OPT_LIST;
    for (size_t i = 0; i < json_len(list); i++) {
        LiveOption e = { .kind = OPT_STRING, .text = json_at(list, i)->string };
        vec_push(a, &ret->list, e);
    }
    return OK;
}

Status conn_create_sql(Service *s, Arena *a, const Object *o, LiveTextHow how, Str *ret, Error *err)
{
    const ConnType *t = conn_type_named(o->type);
    const Json *options = json_get(o->detail, "options");
    LiveStmt live = { .verb = LV_CREATE, .kind = LK_CONNECTION, .type = str_c(t ? t->word : "") };
    Stmt st = { .kind = ST_LIVE, .live = &live };

    st.name = live_parts(a, o);
    for (size_t i = 0; i < json_len(options); i++) {
        LiveOption v;
        TRY(option_of(s, a, options->object.p[i].key, options->object.p[i].value, &v, err));
        vec_push(a, &live.options, v);
    }
    *ret = sql_live_text(a, &st, how);
    return OK;
}

void conn_uses(Arena *a, Object *o)
{
    const Json *options = json_get(o->detail, "options");

    o->uses.n = 0;
    for (size_t i = 0; i < json_len(options); i++) {
        const Json *v = options->object.p[i].value;
        int64_t id = json_get_int(v, "secret", json_get_int(v, "object", 0));
        if (id)
            live_use(a, o, id);
    }
}
