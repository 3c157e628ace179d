/* SPDX-License-Identifier: Apache-2.0 */
/* test_hive_type.c - Hive's type texts, there and back. */
#include "lake/lake.h"
#include "test.h"

static void test_there_and_back(void **state UNUSED)
{
    static const char *const same[] = {
        "boolean", "int", "bigint", "float", "double", "string", "date", "timestamp", "binary", "decimal(38,10)", "array<int>", "map<string,array<bigint>>",
        "struct<a:int,b:struct<c:decimal(10,2)>>", "array<map<string,struct<x:double>>>",
    };
    static const struct { const char *in, *out; } other[] = {
        { "INTEGER", "int" }, { "tinyint", "int" }, { "long", "bigint" }, { "decimal", "decimal(10,0)" }, { "varchar(20)", "string" }, { "char( 3 )", "string" },
        { " struct< a : int , b : array< string > > ", "struct<a:int,b:array<string>>" }, { "decimal(5)", "decimal(5,0)" },
    };
    Arena *a = arena_create();
    int32_t next = 1;
    IceType *t;
    Error err;

    for (size_t i = 0; i < COUNT_OF(same); i++) {
        assert_ok(hive_type_parse(a, str_c(same[i]), &next, &t, &err), &err);
        assert_str(hive_type_text(a, t), same[i]);
    }
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        assert_ok(hive_type_parse(a, str_c(other[i].in), &next, &t, &err), &err);
        assert_str(hive_type_text(a, t), other[i].out);
    }
    arena_destroy(a);
}

static void test_refused(void **state UNUSED)
{
    static const char *const bad[] = { "", "nothing", "array", "array<", "array<int", "array<int,int>", "map<int>", "struct<>", "struct<a>", "struct<a:>", "struct<:int>", "decimal(39,0)", "decimal(2,3)",
                                       "decimal(0)", "int>", "int int", "varchar(x)" };
    Arena *a = arena_create();
    StrBuf deep = sb_new(a);
    int32_t next = 1;
    IceType *t;
    Error err;

    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (hive_type_parse(a, str_c(bad[i]), &next, &t, &err) != E_INVALID)
            fail_msg("'%s' was taken", bad[i]);
    assert_status(hive_type_parse(a, S("uniontype<int,string>"), &next, &t, &err), E_UNSUPPORTED);
    for (int i = 0; i < 1000; i++)
        sb_addc(&deep, "array<");
    assert_status(hive_type_parse(a, sb_str(&deep), &next, &t, &err), E_LIMIT);
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
