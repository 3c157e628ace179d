/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "source/format_proto.h"
#include "source/format_test.h"

/* A descriptor set and a message, both written by Google's library. */
static const char set[] =
    "0af0030a07742e70726f746f120473686f70221d0a05506f696e7412090a017818012001281112090a01791802200128122290030a054f7264657212090a016418012001280112090a0166"
    "180220012802120b0a03693634180320012803120b0a03753634180420012804120b0a03693332180520012805120b0a03663634180620012806120b0a0366333218072001280712090a01"
    "6218082001280812090a0173180920012809120a0a026279180a2001280c120b0a03753332180b2001280d12160a0163180c2001280e320b2e73686f702e436f6c6f72120c0a0473663332"
    "180d2001280f120c0a0473663634180e2001281012160a0170180f2001280b320b2e73686f702e506f696e74120a0a026e7318102003280512170a02707318112003280b320b2e73686f70"
    "2e506f696e7412230a047461677318122003280b32152e73686f702e4f726465722e54616773456e747279120c0a026f311813200128094800120c0a026f32181420012805480012100a03"
    "6f707418152001280548018801011a2b0a0954616773456e747279120b0a036b6579180120012809120d0a0576616c75651802200128053a02380142080a0663686f69636542060a045f6f"
    "70742a250a05436f6c6f7212070a03524544100012090a05475245454e100112080a04424c55451005620670726f746f33";
static const char order[] =
    "09000000000000f83f15000080be18ffffffffffffffffff0120ffffffffffffffffff0128feffffffffffffffff013107000000000000003d0800000040014a0368c3a9520200ff58ffff"
    "ffff0f60056df7ffffff71f6ffffffffffffff7a09080510ffffffffff3f82010d01ffffffffffffffffff01ac028a010208028a010210049201050a016b1009a00104a80100";

static const char text[] =
    "// a shop\nsyntax = \"proto3\";\npackage shop;\nimport \"google/protobuf/timestamp.proto\";\noption java_package = \"x.y\";\n"
    "enum Color { option allow_alias = true; RED = 0; GREEN = 1 [deprecated = true]; BLUE = 0x5; reserved 9, 10 to max; }\n"
    "message Point { sint32 x = 1; sint64 y = 2; }\n"
    "/* the order */ message Order {\n  reserved 100; reserved \"old\";\n  message Unused { message Deep { int32 z = 1; } extensions 4 to 9; }\n"
    "  double d = 1; float f = 2; int64 i64 = 3; uint64 u64 = 4 [jstype = JS_STRING, (my.opt) = { a: \"]\" }]; int32 i32 = 5; fixed64 f64 = 6; fixed32 f32 = 7; bool b = 8; string s = 9;\n"
    "  bytes by = 10; uint32 u32 = 11; Color c = 12; sfixed32 sf32 = 13; sfixed64 sf64 = 14; .shop.Point p = 15; repeated int32 ns = 16; repeated shop.Point ps = 17;\n"
    "  map<string, int32> tags = 18; oneof choice { option (x) = 1; string o1 = 19; int32 o2 = 20; } optional int32 opt = 21;;\n}\n"
    "service S { rpc Do(Order) returns (stream Order) { option (http) = { get: \"/}\" }; } }\nmessage Last { google.protobuf.Timestamp at = 1; }\n";

static const char columns[] =
    "d:double precision!; f:real!; i64:bigint!; u64:uint8!; i32:integer!; f64:uint8!; f32:uint4!; b:boolean!; s:text!; by:bytea!; u32:uint4!; c:text!; sf32:integer!; sf64:bigint!; "
    "p:record(x: integer, y: bigint); ns:integer list!; ps:record(x: integer, y: bigint) list!; tags:map[text=>integer]!; o1:text; o2:integer; opt:integer";
static const char row[] =
    "'1.5'::DOUBLE; '-0.25'::FLOAT; '-1'::BIGINT; '18446744073709551615'::UBIGINT; '-2'::INTEGER; '7'::UBIGINT; '8'::UINTEGER; true; 'h\xc3\xa9'; from_hex('00ff'); '4294967295'::UINTEGER; 'BLUE'; "
    "'-9'::INTEGER; '-10'::BIGINT; {'x': '-3'::INTEGER, 'y': '-1099511627776'::BIGINT}::STRUCT(\"x\" INTEGER, \"y\" BIGINT); ['1'::INTEGER, '-1'::INTEGER, '300'::INTEGER]::INTEGER[]; "
    "[{'x': '1'::INTEGER, 'y': '0'::BIGINT}::STRUCT(\"x\" INTEGER, \"y\" BIGINT), {'x': '0'::INTEGER, 'y': '2'::BIGINT}::STRUCT(\"x\" INTEGER, \"y\" BIGINT)]::STRUCT(\"x\" INTEGER, \"y\" BIGINT)[]; "
    "map(['k'], ['9'::INTEGER])::MAP(VARCHAR, INTEGER); NULL::VARCHAR; '4'::INTEGER; '0'::INTEGER";

static Format *open_set(Arena *a, const char *message)
{
    Json *o = json_object(a);
    FormatOptions options = { .options = o };
    Format *f = NULL;
    Error err;

    json_set(a, o, "format", json_str(a, S("protobuf")));
    json_set(a, o, "message", json_str(a, str_c(message)));
    json_set(a, o, "schema", json_str(a, str_cat(a, S("\\x"), str_c(set))));
    assert_ok(format_open(a, &options, &f, &err), &err);
    return f;
}

/* A format by a schema's text, its registry in `r`. */
static Format *open_text(Arena *a, TestRegistry *r, const char *schema, Error *err)
{
    Json *o = json_object(a);
    FormatOptions options = { .options = o, .subject = S("t-value") };
    Format *f = NULL;

    json_set(a, o, "format", json_str(a, S("protobuf")));
    json_set(a, o, "registry", test_registry(a, r));
    test_register(r, 5, "PROTOBUF", schema);
    return format_open(a, &options, &f, err) == OK ? f : NULL;
}

static void each_type_by_a_descriptor_set(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Format *f = open_set(a, "shop.Order");

    assert_true(format_is_composite(f));
    assert_str(test_columns(a, f), columns);
    assert_str(test_row(a, f, test_hex(a, order)), row);
    assert_str(test_row(a, open_set(a, ".shop.Order"), test_hex(a, order)), row);
    assert_str(test_row(a, open_set(a, "Order"), test_hex(a, order)), row);
    assert_str(test_row(a, open_set(a, "Point"), test_hex(a, "")), "'0'::INTEGER; '0'::BIGINT");
}

static void each_type_by_text(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    TestRegistry r = {0};
    Error err;
    Format *f = open_text(a, &r, text, &err);

    if (!f)
        fail_msg("%s", err.message);
    assert_str(test_columns(a, f), "x:integer!; y:bigint!");                       /* the file's first message */
    assert_str(test_row(a, f, test_framed(a, 5, test_hex(a, "000805"))), "'-3'::INTEGER; '0'::BIGINT");
    assert_str(test_row(a, f, test_framed(a, 5, test_hex(a, "02000805"))), "'-3'::INTEGER; '0'::BIGINT");
    assert_str(test_row(a, f, test_framed(a, 5, test_hex(a, "02020805"))), "E_INVALID Protobuf: a message of type 'shop.Order', the source is of 'shop.Point'");
    assert_str(test_row(a, f, test_framed(a, 5, test_hex(a, "020a0805"))), "E_INVALID Protobuf: message index 5 of 3");
    assert_str(test_row(a, f, test_framed(a, 6, test_hex(a, "00"))), "E_INVALID the schema registry knows no schema with id 6");
    Json *o = json_object(a);
    FormatOptions options = { .options = o, .pinned = format_pinned(f) };
    json_set(a, o, "format", json_str(a, S("protobuf")));
    json_set(a, o, "message", json_str(a, S("shop.Order")));
    json_set(a, o, "registry", json_copy(a, test_json(a, "{\"url\": \"http://127.0.0.1:1\"}")));
    assert_ok(format_open(a, &options, &f, &err), &err);                            /* pinned: nobody is asked */
    assert_str(test_columns(a, f), columns);
    http_server_stop(r.server, 0);
}

static void nested_types_by_index(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    ProtoSchema *s = proto_schema(a);
    Error err;

    assert_ok(proto_add_text(s, str_c(text), &err), &err);
    assert_ok(proto_resolve(s, &err), &err);
    assert_int_equal(s->top.n, 3);
    assert_str(s->top.p[1]->nested.p[0]->nested.p[0]->name, "shop.Order.Unused.Deep");
    assert_int_equal(s->top.p[1]->nested.n, 1);
    assert_str(s->top.p[2]->fields.p[0].message->name, "google.protobuf.Timestamp");
}

static void cut_anywhere_never_crashes(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Format *f = open_set(a, "shop.Order");
    Str whole = test_hex(a, order);
    Value *cells = arena_array(a, Value, format_columns(f)->n);
    Error err;
    int gone, failed = 0;

    for (size_t n = 0; n < whole.n; n++) {
        Status s = format_decode(f, a, str_sub(whole, 0, n), cells, &gone, &err);
        assert_true(s == OK || format_is_poison(s));
        failed += s != OK;
    }
    assert_true(failed > 50);
}

static void what_parsers_must_take(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Format *f = open_set(a, "shop.Point");

    assert_str(test_row(a, f, test_hex(a, "08050807")), "'-4'::INTEGER; '0'::BIGINT");                  /* the last wins */
    assert_str(test_row(a, f, test_hex(a, "98060108051b08011c")), "'-3'::INTEGER; '0'::BIGINT");          /* unknown field 99, unknown group 3 */
    assert_str(test_row(a, f, test_hex(a, "0a0105")), "'0'::INTEGER; '0'::BIGINT");                         /* a known field in another wire type */
    assert_true(str_starts(test_row(a, f, test_hex(a, "1b0801")), S("E_CORRUPT ")));                          /* a group that does not end */
    assert_true(str_starts(test_row(a, f, test_hex(a, "1c")), S("E_CORRUPT ")));
    assert_true(str_starts(test_row(a, f, test_hex(a, "00")), S("E_CORRUPT ")));
    f = open_set(a, "shop.Order");
    Str whole = test_row(a, f, test_hex(a, "7a0208057a021008" "800101" "82010102" "6005" "9a010178" "a00104"));      /* p in two parts, ns unpacked and packed, a oneof twice */
    assert_true(str_find(whole, S("{'x': '-3'::INTEGER, 'y': '4'::BIGINT}")) >= 0);
    assert_true(str_find(whole, S("['1'::INTEGER, '2'::INTEGER]")) >= 0);
    assert_true(str_find(whole, S("NULL::VARCHAR; '4'::INTEGER; NULL::INTEGER")) >= 0);
    assert_str(test_row(a, f, test_hex(a, "6007")), "E_INVALID Protobuf: enum 'shop.Color' has no value 7 (field 'c')");
    assert_str(test_row(a, f, test_hex(a, "4a01ff")), "E_CORRUPT Protobuf: field 's': a text that is not UTF-8");
}

static void schemas_refused(void **state UNUSED)
{
    static const char *const bad[] = {
        "", "syntax = \"proto3\"", "message M {", "message M { int32 = 1; }", "message M { int32 a = 0; }", "message M { int32 a = 1; int32 b = 1; }", "message M { int32 a = 1; string a = 2; }",
        "message M { Unknown a = 1; }", "message M { M a = 1; }", "message M { repeated M a = 1; }", "message M { map<string, M> a = 1; }", "message M { map<bytes, int32> a = 1; }",
        "message M { group G = 1 { int32 a = 2; } }", "message M {} message M {}", "message M {}", "enum E {} message M { E e = 1; }", "message M { int32 a = 99999999999; }", "message M { int32 a = 1 [x",
        "message M { string a = 1 } ", "service S { rpc", "\"", "/* a", "message M { int32 a = 1; } }", "import x; message M { int32 a = 1; }", "message A { B b = 1; } message B { A a = 1; }",
    };

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        TestRegistry r = {0};
        Error err = {0};
        Format *f = open_text(a, &r, bad[i], &err);
        http_server_stop(r.server, 0);
        if (f)
            fail_msg("'%s' was taken: " STR_FMT, bad[i], STR_ARG(test_columns(a, f)));
        assert_true(err.message[0]);
    }
}

static void descriptor_sets_cut_anywhere(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Str whole = test_hex(a, set);
    Error err;

    for (size_t n = 0; n < whole.n; n++) {
        CLEANUP(arena_destroyp) Arena *own = arena_create();
        ProtoSchema *s = proto_schema(own);
        if (proto_add_descriptors(s, str_sub(whole, 0, n), &err) == OK)
            assert_int_equal(n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_by_a_descriptor_set), cmocka_unit_test(each_type_by_text), cmocka_unit_test(nested_types_by_index), cmocka_unit_test(cut_anywhere_never_crashes),
        cmocka_unit_test(what_parsers_must_take), cmocka_unit_test(schemas_refused), cmocka_unit_test(descriptor_sets_cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
