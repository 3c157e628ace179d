/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c - which operation a request asks for, and its input as one Json object.
 *
 * awsJson: the target header and the body.  awsQuery: a form, whose dotted names become lists, maps and structures.  restJson: method and path (split
 * before decoding: an ARN is one segment), then query and body. */
#include "aws/aws_int.h"

static const AwsOp *op_named(const AwsService *s, Str name)
{
    for (size_t i = 0; i < s->nops; i++)
        if (str_eq(name, str_c(s->ops[i].name)))
            return &s->ops[i];
    return NULL;
}

/* ---- forms ------------------------------------------------------------------------------------------------------------ */

static bool is_index(Str s, int64_t *n) { return str_to_i64(s, n) && *n > 0 && *n <= AWS_FORM_INDEX; }

/* Puts one parameter into the tree of objects that its dots spell. */
static Status form_put(Arena *a, Json *root, const KeyValue *kv, Error *err)
{
    StrVec parts = {0};
    Json *at = root;

    str_split(a, kv->key, '.', &parts);
    if (parts.n > AWS_FORM_DEPTH)
        return AWS_FAIL(err, E_LIMIT, "MalformedQueryString", "parameter '" STR_FMT "' is nested too deeply", STR_ARG(str_sub(kv->key, 0, 100)));
    for (size_t i = 0; i + 1 < parts.n; i++) {
        Json *next = json_get_s(at, parts.p[i]);
        if (!next) {
            next = json_object(a);
            json_set_s(a, at, parts.p[i], next);
        }
        if (!json_is(next, JSON_OBJECT))
            return AWS_FAIL(err, E_INVALID, "MalformedQueryString", "parameter '" STR_FMT "' is a value and a structure", STR_ARG(str_sub(kv->key, 0, 100)));
        at = next;
    }
    if (json_get_s(at, vec_last(&parts)))
        return AWS_FAIL(err, E_INVALID, "MalformedQueryString", "parameter '" STR_FMT "' is given twice", STR_ARG(str_sub(kv->key, 0, 100)));
    json_set_s(a, at, vec_last(&parts), json_str(a, kv->value));
    return OK;
}

/* {"1": x, "2": y} in the order of its numbers; NULL when it is not of that form. */
static Json *numbered(Arena *a, const Json *o)
{
    Json *list = json_array(a);
    int64_t last = 0;

    for (size_t done = 0; done < o->object.n; done++) {
        int64_t least = INT64_MAX, n;
        Json *value = NULL;
        for (size_t i = 0; i < o->object.n; i++) {
            if (!is_index(o->object.p[i].key, &n))
                return NULL;
            if (n > last && n < least) {
                least = n;
                value = o->object.p[i].value;
            }
        }
        if (!value)
            return NULL;
        last = least;
        json_push(a, list, value);
    }
    return list;
}

static Json *map_of(Arena *a, const Json *entries)
{
    Json *map = json_object(a);
    for (size_t i = 0; i < json_len(entries); i++) {
        const Json *e = json_at(entries, i);
        Json *value = json_get(e, "value");
        if (value)
            json_set_s(a, map, json_get_str(e, "key", (Str){0}), value);
    }
    return map;
}

/* Turns {"member": {"1": …}} into a list and {"entry": {"1": {"key", "value"}}} into a map, from the leaves up. */
static Json *unfold(Arena *a, Json *v)
{
    if (!json_is(v, JSON_OBJECT))
        return v;
    for (size_t i = 0; i < v->object.n; i++)
        v->object.p[i].value = unfold(a, v->object.p[i].value);
    if (v->object.n != 1 || !json_is(v->object.p[0].value, JSON_OBJECT))
        return v;
    Json *list = numbered(a, v->object.p[0].value);
    if (list && str_eq(v->object.p[0].key, S("member")))
        return list;
    if (list && str_eq(v->object.p[0].key, S("entry")))
        return map_of(a, list);
    return v;
}

/* "Tags=" alone is an empty list: an empty text where a structure is due would be a wrong kind, so fields of lists see it as absent. */
Status aws_form(Arena *a, Str text, Json **ret, Error *err)
{
    Props p = {0};
    Json *root = json_object(a);

    TRY(url_query_parse(a, text, &p, err));
    if (p.n > AWS_FORM_MEMBERS)
        return AWS_FAIL(err, E_LIMIT, "MalformedQueryString", "more than %d parameters", AWS_FORM_MEMBERS);
    for vec_each(KeyValue, kv, &p)
        TRY(form_put(a, root, kv, err));
    for (size_t i = 0; i < root->object.n; i++)
        root->object.p[i].value = unfold(a, root->object.p[i].value);
    *ret = root;
    return OK;
}

/* ---- paths ------------------------------------------------------------------------------------------------------------ */

static bool is_label(Str part) { return part.n > 2 && part.p[0] == '{'; }

/* Literal segments that match, or -1. */
static int match_path(Arena *a, Str path, const char *template, StrVec *values)
{
    StrVec have = {0}, want = {0};
    int literals = 0;

    values->n = 0;
    str_split(a, str_from(path, 1), '/', &have);
    str_split(a, str_from(str_c(template), 1), '/', &want);
    if (have.n > 1 && !vec_last(&have).n)              /* one slash too many at the end is forgiven */
        have.n--;
    if (have.n != want.n)
        return -1;
    for (size_t i = 0; i < have.n; i++) {
        if (is_label(want.p[i]) && have.p[i].n)
            vec_push(a, values, have.p[i]);
        else if (str_eq(have.p[i], want.p[i]))
            literals++;
        else
            return -1;
    }
    return literals;
}

const AwsOp *aws_rest_op(const AwsService *s, const HttpRequest *r, StrVec *values)
{
    const AwsOp *best = NULL;
    StrVec v = {0};
    int most = -1;

    for (size_t i = 0; i < s->nops; i++) {
        if (!str_eq(r->method, str_c(s->ops[i].method)))
            continue;
        int n = match_path(r->arena, r->path, s->ops[i].path, &v);
        if (n <= most)
            continue;
        most = n;
        best = &s->ops[i];
        *values = v;
        v = (StrVec){0};
    }
    return best;
}

static Status put_labels(Arena *a, const AwsOp *op, const StrVec *values, Json *in, Error *err)
{
    StrVec want = {0};
    size_t k = 0;

    str_split(a, str_from(str_c(op->path), 1), '/', &want);
    for (size_t i = 0; i < want.n; i++) {
        Str decoded;
        if (!is_label(want.p[i]))
            continue;
        TRY(url_decode(a, values->p[k], 0, &decoded, err));
        k++;
        json_set_s(a, in, str_sub(want.p[i], 1, want.p[i].n - 1), json_str(a, decoded));
    }
    return OK;
}

static void put_query(Arena *a, const AwsMembers *m, const HttpRequest *r, Json *in)
{
    for vec_each(KeyValue, kv, &r->args) {
        const AwsMember *f = aws_member(m, kv->key);
        if (!f)
            continue;
        if (f->type->kind != T_LIST) {
            json_set_s(a, in, f->name, aws_from_text(a, f->type, kv->value));
            continue;
        }
        Json *list = json_get_s(in, f->name);
        if (!json_is(list, JSON_ARRAY)) {
            list = json_array(a);
            json_set_s(a, in, f->name, list);
        }
        json_push(a, list, aws_from_text(a, f->type->item, kv->value));
    }
}

/* ---- the three protocols ---------------------------------------------------------------------------------------------- */

static Status parse_body(Arena *a, Str body, Json **ret, Error *err)
{
    if (!str_trim(body).n) {
        *ret = json_object(a);
        return OK;
    }
    if (json_parse(a, body, ret, err) != OK) {
        aws_code(err, "SerializationException");
        return error_context(err, "the body is not JSON");
    }
    if (!json_is(*ret, JSON_OBJECT))
        return AWS_FAIL(err, E_INVALID, "SerializationException", "the body must be a JSON object");
    return OK;
}

static Status read_json(const AwsMount *m, HttpRequest *r, AwsRequest *q, Error *err)
{
    Str target = http_header(r, "x-amz-target"), service, name;

    if (!str_cut(target, '.', &service, &name) || !str_eq(service, str_c(m->service->target)) || !(q->op = op_named(m->service, name)))
        return AWS_FAIL(err, E_NOT_FOUND, "UnknownOperationException", "there is no operation '" STR_FMT "'", STR_ARG(str_sub(target, 0, 100)));
    return OK;
}

static Status read_query(const AwsMount *m, HttpRequest *r, AwsRequest *q, Error *err)
{
    if (aws_form(r->arena, str_eq(r->method, S("POST")) ? q->body : r->query, &q->in, err) != OK) {
        if (!err->kind[0])
            aws_code(err, "MalformedQueryString");
        return err->code;
    }
    Str name = json_get_str(q->in, "Action", (Str){0}), version = json_get_str(q->in, "Version", str_c(m->service->version));
    if (!name.n)
        return AWS_FAIL(err, E_INVALID, "MissingAction", "the request names no Action");
    q->op = str_eq(version, str_c(m->service->version)) ? op_named(m->service, name) : NULL;
    if (!q->op)
        return AWS_FAIL(err, E_NOT_FOUND, "InvalidAction", "Could not find operation " STR_FMT " for version " STR_FMT, STR_ARG(str_sub(name, 0, 100)), STR_ARG(str_sub(version, 0, 20)));
    return OK;
}

static Status read_rest(const AwsMount *m, HttpRequest *r, AwsRequest *q, Error *err)
{
    StrVec values = {0};

    q->op = aws_rest_op(m->service, r, &values);
    if (!q->op)
        return AWS_FAIL(err, E_NOT_FOUND, "UnknownOperationException", "there is no operation " STR_FMT " " STR_FMT, STR_ARG(r->method), STR_ARG(str_sub(r->path, 0, 200)));
    return OK;
}

Status aws_read_request(const AwsMount *m, HttpRequest *r, AwsRequest *q, Error *err)
{
    *q = (AwsRequest){0};
    if (http_body_all(r, AWS_BODY_MAX, &q->body, err) != OK) {
        if (err->code == E_LIMIT)
            aws_code(err, "RequestEntityTooLarge");
        return err->code;
    }
    switch (m->service->protocol) {
    case AWS_JSON: return read_json(m, r, q, err);
    case AWS_QUERY: return read_query(m, r, q, err);
    case AWS_REST_JSON: return read_rest(m, r, q, err);
    }
    return OK;
}

Status aws_decode_input(const AwsMount *m, HttpRequest *r, AwsRequest *q, Error *err)
{
    AwsMembers members = {0};
    StrVec values = {0};

    TRY(aws_fields(r->arena, str_c(q->op->fields ? q->op->fields : ""), &members, err));
    if (m->service->protocol != AWS_QUERY)
        TRY(parse_body(r->arena, q->body, &q->in, err));
    if (m->service->protocol == AWS_REST_JSON) {
        aws_rest_op(m->service, r, &values);
        put_query(r->arena, &members, r, q->in);
        TRY(put_labels(r->arena, q->op, &values, q->in, err));
    }
    return aws_check_input(r->arena, m->service, &members, q->in, m->service->protocol == AWS_QUERY, &q->in, err);
}
