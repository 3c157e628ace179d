/* SPDX-License-Identifier: Apache-2.0 */
/* test_aws.c - fields, forms, paths, tokens; the wire itself is tested by real clients in tests/. */
#include "aws/aws_int.h"
#include "test.h"

static const AwsShape shapes[] = { { "Tag", "Key! s1-5, Value s" }, { "Tree", "Name! s, Children [{Tree}]0-3" } };
static const AwsOp ops[] = {
    { .name = "Get", .fields = "arn! s, name s1-10, tagKeys [s], max i1-10, on b", .method = "GET", .path = "/things/{arn}/{name}" },
    { .name = "GetSpecial", .fields = "arn! s", .method = "GET", .path = "/things/{arn}/special" },
    { .name = "Put", .fields = "Tags [{Tag}]0-2, Root {Tree}, Kind e(A|B), Map <i1-9>, When t", .method = "PUT", .path = "/things" },
};
static const AwsService service = { .scope = "test", .title = "Test", .protocol = AWS_REST_JSON, .ops = ops, .nops = COUNT_OF(ops), .shapes = shapes, .nshapes = COUNT_OF(shapes), .validation = "InvalidInputException" };

static Status check(Arena *a, const char *fields, const char *json, int texts, Json **ret, Error *err)
{
    AwsMembers m;
    Json *in;
    TRY(aws_fields(a, str_c(fields), &m, err));
    TRY(json_parse(a, str_c(json), &in, err));
    return aws_check_input(a, &service, &m, in, texts, ret, err);
}

static void test_fields(void **state UNUSED)
{
    Arena *a = arena_create();
    AwsMembers m;
    Error err;

    aws_check_service(&service);
    assert_ok(aws_fields(a, S("Name! s1-255, L [{Tag}]0-50, M <[s]>, E e(X|Y_1), T t"), &m, &err), &err);
    assert_int_equal(m.n, 5);
    assert_true(m.p[0].required && m.p[0].type->max == 255);
    assert_int_equal(m.p[1].type->item->kind, T_STRUCT);
    assert_int_equal(m.p[2].type->item->item->kind, T_STR);
    assert_int_equal(m.p[3].type->choices.n, 2);
    assert_int_equal(aws_fields(a, S("Name s, L [s"), &m, &err), E_SYNTAX);
    assert_int_equal(aws_fields(a, S("Name q"), &m, &err), E_SYNTAX);
    arena_destroy(a);
}

static void test_input(void **state UNUSED)
{
    Arena *a = arena_create();
    Json *out;
    Error err;

    assert_ok(check(a, ops[2].fields, "{\"Tags\": [{\"Key\": \"k\", \"Value\": \"v\", \"Odd\": 1}], \"Unknown\": 1, \"When\": 5, \"Kind\": \"A\"}", 0, &out, &err), &err);
    assert_null(json_get(out, "Unknown"));
    assert_null(json_get(json_at(json_get(out, "Tags"), 0), "Odd"));
    assert_int_equal(check(a, ops[2].fields, "{\"Tags\": [{\"Value\": \"v\"}], \"Kind\": \"C\", \"Map\": {\"a\": 10}}", 0, &out, &err), E_INVALID);
    assert_string_equal(err.kind, "InvalidInputException");
    assert_non_null(strstr(err.message, "3 validation errors detected: Value null at 'tags.1.member.key' failed to satisfy constraint: Member must not be null"));
    assert_non_null(strstr(err.message, "Value 'C' at 'kind' failed to satisfy constraint: Member must satisfy enum value set: [A, B]"));
    assert_int_equal(check(a, ops[2].fields, "{\"Tags\": \"x\"}", 0, &out, &err), E_INVALID);
    assert_string_equal(err.kind, "SerializationException");
    assert_ok(check(a, "N i, B b, D d", "{\"N\": \"5\", \"B\": \"true\", \"D\": \"1.5\"}", 1, &out, &err), &err);
    assert_int_equal(json_get_int(out, "N", 0), 5);
    assert_true(json_get_bool(out, "B", false));
    assert_int_equal(check(a, "N i", "{\"N\": \"5\"}", 0, &out, &err), E_INVALID);
    assert_ok(check(a, "N l", "{\"N\": 8320873279919889000.0}", 0, &out, &err), &err);
    arena_destroy(a);
}

static void test_deep(void **state UNUSED)
{
    Arena *a = arena_create();
    StrBuf b = sb_new(a);
    Json *out;
    Error err;

    sb_addc(&b, "{\"Root\": ");
    for (int i = 0; i < 100; i++)
        sb_addc(&b, "{\"Name\": \"n\", \"Children\": [");
    for (int i = 0; i < 100; i++)
        sb_addc(&b, "]}");
    sb_addc(&b, "}");
    assert_int_equal(check(a, ops[2].fields, sb_str(&b).p, 0, &out, &err), E_LIMIT);
    arena_destroy(a);
}

static void test_forms(void **state UNUSED)
{
    Arena *a = arena_create();
    Json *in;
    Error err;

    assert_ok(aws_form(a, S("Action=X&Tags.member.2.Key=b&Tags.member.1.Key=a&Tags.member.10.Key=c&M.entry.1.key=k&M.entry.1.value=v"), &in, &err), &err);
    assert_int_equal(json_len(json_get(in, "Tags")), 3);
    assert_true(str_eq(json_get_str(json_at(json_get(in, "Tags"), 2), "Key", (Str){0}), S("c")));
    assert_true(str_eq(json_get_str(json_get(in, "M"), "k", (Str){0}), S("v")));
    assert_int_equal(aws_form(a, S("A=1&A.b=2"), &in, &err), E_INVALID);
    assert_int_equal(aws_form(a, S("A=1&A=2"), &in, &err), E_INVALID);
    assert_int_equal(aws_form(a, S("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r=1"), &in, &err), E_LIMIT);
    assert_ok(aws_form(a, S("T.member.999999999=x&U.member.0=y"), &in, &err), &err);      /* no list: an index beyond the limit */
    assert_false(json_is(json_get(in, "T"), JSON_ARRAY));
    arena_destroy(a);
}

static void test_paths(void **state UNUSED)
{
    Arena *a = arena_create();
    HttpRequest r = { .arena = a, .method = S("GET"), .path = S("/things/arn%3Aaws%3Ax%2Fy/special") };
    StrVec values = {0};

    assert_string_equal(aws_rest_op(&service, &r, &values)->name, "GetSpecial");
    assert_int_equal(values.n, 1);
    r.path = S("/things/a%2Fb/c");
    assert_string_equal(aws_rest_op(&service, &r, &values)->name, "Get");
    assert_true(str_eq(values.p[1], S("c")));
    r.path = S("/things//c");
    assert_null(aws_rest_op(&service, &r, &values));
    arena_destroy(a);
}

static void test_tokens(void **state UNUSED)
{
    Arena *a = arena_create();
    AwsCall c = { .a = a, .service = &service, .op = &ops[0], .in = json_object(a), .out = json_object(a) };
    Str position;
    Error err;

    json_set(a, c.in, "name", json_str(a, S("x")));
    Str token = aws_page_token(&c, S("p"));
    json_set(a, c.in, "NextToken", json_str(a, token));
    assert_ok(aws_page_start(&c, "NextToken", &position, &err), &err);
    assert_true(str_eq(position, S("p")));
    json_set(a, c.in, "name", json_str(a, S("y")));
    assert_int_equal(aws_page_start(&c, "NextToken", &position, &err), E_INVALID);
    json_set(a, c.in, "NextToken", json_str(a, S("no token")));
    assert_int_equal(aws_page_start(&c, "NextToken", &position, &err), E_INVALID);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields), cmocka_unit_test(test_input), cmocka_unit_test(test_deep), cmocka_unit_test(test_forms), cmocka_unit_test(test_paths), cmocka_unit_test(test_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
