/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <ftw.h>

static const char schema[] =
    "{\"type\":\"record\",\"name\":\"ns.row\",\"fields\":["
    "{\"name\":\"id\",\"type\":\"long\",\"field-id\":1},"
    "{\"name\":\"note\",\"type\":[\"null\",\"string\"],\"default\":null,\"field-id\":2},"
    "{\"name\":\"day\",\"type\":{\"type\":\"int\",\"logicalType\":\"date\"},\"field-id\":3},"
    "{\"name\":\"price\",\"type\":[\"null\",{\"type\":\"fixed\",\"name\":\"dec\",\"size\":4,\"logicalType\":\"decimal\","
    "\"precision\":9,\"scale\":2}],\"field-id\":4},"
    "{\"name\":\"sizes\",\"type\":{\"type\":\"array\",\"items\":\"long\",\"element-id\":6},\"field-id\":5},"
    "{\"name\":\"props\",\"type\":{\"type\":\"map\",\"values\":\"bytes\",\"key-id\":8,\"value-id\":9},\"field-id\":7},"
    "{\"name\":\"real\",\"type\":\"double\"},{\"name\":\"small\",\"type\":\"float\"},{\"name\":\"flag\",\"type\":\"boolean\"},"
    "{\"name\":\"color\",\"type\":{\"type\":\"enum\",\"name\":\"color\",\"symbols\":[\"red\",\"green\"]}},"
    "{\"name\":\"inner\",\"type\":[\"null\",{\"type\":\"record\",\"name\":\"inner\",\"fields\":[{\"name\":\"d\",\"type\":\"dec\"}]}]}"
    "]}";

static AvroValue of_long(int64_t v) { return (AvroValue){ .kind = AVRO_LONG, .integer = v }; }
static AvroValue of_bytes(AvroKind kind, Str s) { return (AvroValue){ .kind = kind, .bytes = s }; }

static AvroValue make_row(Arena *a, int64_t i)
{
    AvroValue *f = arena_array(a, AvroValue, 11), *sizes = arena_array(a, AvroValue, 3), *inner = arena_new(a, AvroValue);
    Str *keys = arena_array(a, Str, 1);
    AvroValue *props = arena_new(a, AvroValue);

    for (int k = 0; k < 3; k++)
        sizes[k] = of_long(i << (k * 20));
    keys[0] = S("key");
    *props = of_bytes(AVRO_BYTES, S("\xff\x01"));
    *inner = of_bytes(AVRO_FIXED, S("abcd"));
    f[0] = of_long(i * 0x0000456789abcdef);
    f[1] = i % 3 ? of_bytes(AVRO_STRING, str_fmt(a, "note %d", (int)i)) : (AvroValue){ .kind = AVRO_NULL };
    f[2] = (AvroValue){ .kind = AVRO_INT, .integer = -i };
    f[3] = i % 2 ? of_bytes(AVRO_FIXED, S("\1\2\3\4")) : (AvroValue){ .kind = AVRO_NULL };
    f[4] = (AvroValue){ .kind = AVRO_ARRAY, .items = { sizes, (size_t)i % 4 } };
    f[5] = (AvroValue){ .kind = AVRO_MAP, .map = { keys, props, (size_t)i % 2 } };
    f[6] = (AvroValue){ .kind = AVRO_DOUBLE, .real = (double)i / 3 };
    f[7] = (AvroValue){ .kind = AVRO_FLOAT, .real = (double)i / 4 };
    f[8] = (AvroValue){ .kind = AVRO_BOOL, .boolean = i % 2 };
    f[9] = (AvroValue){ .kind = AVRO_ENUM, .integer = i % 2 };
    f[10] = i % 5 ? (AvroValue){ .kind = AVRO_RECORD, .items = { inner, 1 } } : (AvroValue){ .kind = AVRO_NULL };
    return (AvroValue){ .kind = AVRO_RECORD, .items = { f, 11 } };
}

static bool same(const AvroValue *x, const AvroValue *y)
{
    if (x->kind != y->kind)
        return false;
    switch (x->kind) {
    case AVRO_NULL: return true;
    case AVRO_BOOL: return x->boolean == y->boolean;
    case AVRO_INT: case AVRO_LONG: case AVRO_ENUM: return x->integer == y->integer;
    case AVRO_FLOAT: case AVRO_DOUBLE: return memcmp(&x->real, &y->real, sizeof x->real) == 0;
    case AVRO_BYTES: case AVRO_STRING: case AVRO_FIXED: return str_eq(x->bytes, y->bytes);
    case AVRO_MAP:
        for (size_t i = 0; x->map.n == y->map.n && i < x->map.n; i++)
            if (!str_eq(x->map.keys[i], y->map.keys[i]) || !same(&x->map.p[i], &y->map.p[i]))
                return false;
        return x->map.n == y->map.n;
    default:
        for (size_t i = 0; x->items.n == y->items.n && i < x->items.n; i++)
            if (!same(&x->items.p[i], &y->items.p[i]))
                return false;
        return x->items.n == y->items.n;
    }
}

static void round_trip_in_each_codec(void **state UNUSED)
{
    static const char *const codecs[] = { "null", "deflate", "zstandard" };
    enum { ROWS = 5000 };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AvroValue *rows = arena_array(a, AvroValue, ROWS);
    Props meta = {0};
    Error err;

    for (int i = 0; i < ROWS; i++)
        rows[i] = make_row(a, i);
    props_set(a, &meta, S("format-version"), S("2"));
    props_set(a, &meta, S("avro.codec"), S("nonsense"));
    for (size_t c = 0; c < COUNT_OF(codecs); c++) {
        AvroFile f;
        Str bytes;
        assert_ok(avro_write(a, str_c(schema), &meta, codecs[c], rows, ROWS, &bytes, &err), &err);
        assert_ok(avro_read(a, bytes, &f, &err), &err);
        assert_int_equal(f.rows.n, ROWS);
        assert_str(props_get(&f.meta, S("avro.codec"), S("")), codecs[c]);
        assert_str(props_get(&f.meta, S("format-version"), S("")), "2");
        for (int i = 0; i < ROWS; i++)
            if (!same(&rows[i], &f.rows.p[i]))
                fail_msg("row %d differs with codec %s", i, codecs[c]);
    }
}

static void fields_by_id_and_name(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AvroValue row = make_row(a, 7);
    AvroFile f;
    Str bytes;
    Error err;
    assert_ok(avro_write(a, str_c(schema), NULL, "null", &row, 1, &bytes, &err), &err);
    assert_ok(avro_read(a, bytes, &f, &err), &err);
    const AvroValue *r = &f.rows.p[0];
    assert_str(avro_field(r, 2, "other")->bytes, "note 7");
    assert_null(avro_field(r, 99, "note"));                 /* has an id, and it is another */
    assert_int_equal(avro_field(r, 99, "flag")->boolean, true);
    assert_int_equal(avro_field(r, -1, "id")->integer, 7 * 0x0000456789abcdef);
    assert_null(avro_field(r, 99, NULL));
    assert_int_equal(r->schema->fields.p[3].type->branches.p[1]->scale, 2);
    assert_str(r->schema->fields.p[2].type->logical, "date");
    assert_int_equal(r->schema->fields.p[5].type->value_id, 9);
    assert_str(r->schema->fields.p[10].type->branches.p[1]->name, "ns.inner");
}

static void says_which_value_does_not_fit(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AvroValue row = make_row(a, 7);
    Str bytes;
    Error err;
    row.items.p[2].integer = INT64_MAX;
    assert_status(avro_write(a, str_c(schema), NULL, "null", &row, 1, &bytes, &err), E_INVALID);
    assert_non_null(strstr(err.message, "row 0: field 'day'"));
    assert_status(avro_write(a, str_c(schema), NULL, "bzip2", &row, 1, &bytes, &err), E_UNSUPPORTED);
}

static void schemas_refused(void **state UNUSED)
{
    static const char *const bad[] = {
        "\"nothing\"", "[]", "3", "[[\"null\"]]", "{\"type\":\"fixed\",\"name\":\"f\"}", "{\"type\":\"array\"}",
        "{\"type\":\"record\",\"name\":\"r\"}", "{\"type\":\"fixed\",\"name\":\"f\",\"size\":-1}", "{\"name\":\"x\"}",
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"a\",\"type\":\"int\"}]}",
        "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"a\"}]}",
        "[{\"type\":\"fixed\",\"name\":\"f\",\"size\":1},{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}]",
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AvroSchema *s;
    Error err;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (avro_schema_parse(a, str_c(bad[i]), &s, &err) != E_INVALID)
            fail_msg("%s is not refused", bad[i]);
    StrBuf b = sb_new(a);
    for (int i = 0; i < 200; i++)
        sb_addc(&b, "{\"type\":\"array\",\"items\":");
    sb_addc(&b, "\"int\"");
    for (int i = 0; i < 200; i++)
        sb_byte(&b, '}');
    assert_status(avro_schema_parse(a, sb_str(&b), &s, &err), E_LIMIT);
}

/* A container with one block of `count` rows whose bytes are `data`; `codec` names how they claim to be packed. */
static Str container(Arena *a, const char *schema_json, const char *codec, int64_t count, Str data)
{
    Error err;
    Str file;
    StrBuf b = sb_new(a);
    assert_ok(avro_write(a, str_c(schema_json), NULL, "null", NULL, 0, &file, &err), &err);
    ptrdiff_t at = str_find(file, S("avro.codec")) + 10;
    sb_add(&b, str_sub(file, 0, (size_t)at));
    sb_byte(&b, (char)(strlen(codec) * 2));
    sb_addc(&b, codec);
    sb_add(&b, str_from(file, (size_t)at + 5));
    for (uint64_t z = (uint64_t)count << 1 ^ (uint64_t)(count >> 63), more = 1; more; z >>= 7) {
        more = z >= 0x80;
        sb_byte(&b, (char)(more ? z | 0x80 : z));
    }
    for (uint64_t z = data.n << 1, more = 1; more; z >>= 7) {
        more = z >= 0x80;
        sb_byte(&b, (char)(more ? z | 0x80 : z));
    }
    sb_add(&b, data);
    sb_add(&b, str_from(file, file.n - 16));
    return sb_str(&b);
}

static void hostile_files(void **state UNUSED)
{
    static const char r_null[] = "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"n\",\"type\":\"null\"}]}";
    static const char self[] = "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"n\",\"type\":\"r\"}]}";
    static const char list[] = "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"n\",\"type\":[\"null\",\"r\"]}]}";
    static const char *const longs = "{\"type\":\"array\",\"items\":\"long\"}", *const nulls = "{\"type\":\"array\",\"items\":\"null\"}";
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    char deep[1000];
    memset(deep, 2, sizeof deep);
    const struct { const char *schema, *codec; int64_t rows; Str data; Status want; } cases[] = {
        { "\"long\"", "null", 2, S("\x02\x04"), OK },
        { "\"long\"", "null", 1, S("\x02\x04"), E_CORRUPT },                       /* a byte too many */
        { "\"long\"", "null", 3, S("\x02\x04"), E_CORRUPT },
        { "\"long\"", "null", -1, S("\x02"), E_CORRUPT },
        { "\"long\"", "null", INT64_MAX, S("\x02"), E_CORRUPT },
        { "\"long\"", "null", 1, S("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), E_CORRUPT },
        { "\"long\"", "null", 1, S("\x80\x80"), E_CORRUPT },
        { "\"long\"", "bzip2", 1, S("\x02"), E_UNSUPPORTED },
        { "\"long\"", "deflate", 1, S("\xff\xff"), E_CORRUPT },
        { "\"long\"", "snappy", 1, S("\x01"), E_CORRUPT },
        { "\"long\"", "zstandard", 1, S("zzzzzz"), E_CORRUPT },
        { "\"int\"", "null", 1, S("\x80\x80\x80\x80\x20"), E_CORRUPT },
        { "\"boolean\"", "null", 1, S("\x02"), E_CORRUPT },
        { "\"string\"", "null", 1, S("\x02\xff"), E_CORRUPT },
        { "\"bytes\"", "null", 1, S("\x01"), E_CORRUPT },                          /* length -1 */
        { "[\"null\",\"int\"]", "null", 1, S("\x04"), E_CORRUPT },
        { "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"a\"]}", "null", 1, S("\x02"), E_CORRUPT },
        { "\"null\"", "null", 1000, S(""), OK },
        { "\"null\"", "null", INT64_MAX, S(""), E_LIMIT },
        { r_null, "null", INT64_MAX, S(""), E_LIMIT },
        { self, "null", 1, S(""), E_LIMIT },
        { list, "null", 1, { deep, sizeof deep }, E_LIMIT },
        { longs, "null", 1, S("\x03\x04\x02\x04\x00"), OK },                       /* negative count with a size */
        { longs, "null", 1, S("\x02\x02\x02\x04\x00"), OK },                       /* two blocks */
        { longs, "null", 1, S("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00"), E_CORRUPT },   /* INT64_MIN */
        { nulls, "null", 1, S("\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"), E_LIMIT },
        { nulls, "null", 1, S("\xc8\x01\x00"), OK },
        { nulls, "null", 1, S("\x80\xf1\x04\x00"), OK },                          /* 40,000 */
        { nulls, "null", 1, S("\x80\xf1\x04\x80\xf1\x04\x00"), E_LIMIT },        /* and again */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        AvroFile f;
        Error err = {0};
        Status got = avro_read(a, container(a, cases[i].schema, cases[i].codec, cases[i].rows, cases[i].data), &f, &err);
        if (got != cases[i].want)
            fail_msg("case %zu: %s (%s)", i, status_name(got), err.message);
    }
}

static void ids_above_int64(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AvroFile f;
    Error err;
    Str data = S("\xaa\xc4\xa3\x83\x96\xee\xc3\x90\x92\x02");   /* 9876543210123456789, zig-zag in 65 bits */
    assert_ok(avro_read(a, container(a, "\"long\"", "null", 1, data), &f, &err), &err);
    assert_true((uint64_t)f.rows.p[0].integer == 9876543210123456789u);
}

static void a_wrong_schema_makes_a_corrupt_file(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AvroFile f;
    Error err;
    Str file = str_dup(a, container(a, "\"long\"", "null", 1, S("\x02")));
    char *p = str_z(a, file);
    p[str_find(file, S("\"long\"")) + 1] = 'L';
    assert_status(avro_read(a, str_n(p, file.n), &f, &err), E_CORRUPT);
    assert_non_null(strstr(err.message, "unknown type 'Long'"));
}

static void deflate_bomb(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    size_t n = LIMIT_MANIFEST_BYTES + 1000;
    AvroFile f;
    Error err;
    Str packed;
    assert_ok(deflate_pack(a, str_n(arena_alloc(a, n), n), &packed, &err), &err);
    assert_status(avro_read(a, container(a, "\"int\"", "deflate", (int64_t)n, packed), &f, &err), E_LIMIT);
}

static void cut_files(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AvroValue row = make_row(a, 7);
    AvroFile f;
    Str bytes;
    Error err;
    assert_ok(avro_write(a, str_c(schema), NULL, "deflate", &row, 1, &bytes, &err), &err);
    size_t header = bytes.n;
    Str empty;
    assert_ok(avro_write(a, str_c(schema), NULL, "deflate", NULL, 0, &empty, &err), &err);
    header = empty.n;
    for (size_t n = 0; n < bytes.n; n++)
        if (n != header)
            assert_int_equal(avro_read(a, str_n(str_dup(a, str_sub(bytes, 0, n)).p, n), &f, &err), E_CORRUPT);
    char *flip = str_z(a, bytes);
    flip[bytes.n - 1] ^= 1;
    assert_status(avro_read(a, str_n(flip, bytes.n), &f, &err), E_CORRUPT);
}

/* ---- files of other writers ---------------------------------------------------------------------------- */

static int files_seen;

static Str slurp(Arena *a, const char *path)
{
    FILE *f = fopen(path, "rb");
    StrBuf b = sb_new(a);
    char buf[65536];
    assert_non_null(f);
    for (size_t n; (n = fread(buf, 1, sizeof buf, f)) > 0; )
        sb_add(&b, str_n(buf, n));
    fclose(f);
    return sb_str(&b);
}

static int reread(const char *path, const struct stat *st UNUSED, int type)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    AvroFile f, again;
    Error err;
    Str bytes;

    if (type != FTW_F || !str_ends(str_c(path), S(".avro")))
        return 0;
    if (avro_read(a, slurp(a, path), &f, &err) != OK)
        fail_msg("%s: %s", path, err.message);
    assert_true(f.rows.n > 0);
    assert_ok(avro_write(a, props_get(&f.meta, S("avro.schema"), S("")), &f.meta, "deflate", f.rows.p, f.rows.n, &bytes, &err), &err);
    assert_ok(avro_read(a, bytes, &again, &err), &err);
    assert_int_equal(f.rows.n, again.rows.n);
    assert_int_equal(f.meta.n, again.meta.n);
    for (size_t i = 0; i < f.rows.n; i++)
        assert_true(same(&f.rows.p[i], &again.rows.p[i]));
    files_seen++;
    return 0;
}

static void manifests_of_other_writers(void **state UNUSED)
{
    const char *folder = getenv("FIRN_FIXTURES");
    if (!folder)
        skip();
    assert_int_equal(ftw(folder, reread, 16), 0);
    assert_true(files_seen > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip_in_each_codec), cmocka_unit_test(fields_by_id_and_name),
        cmocka_unit_test(says_which_value_does_not_fit), cmocka_unit_test(schemas_refused),
        cmocka_unit_test(hostile_files), cmocka_unit_test(ids_above_int64),
        cmocka_unit_test(a_wrong_schema_makes_a_corrupt_file), cmocka_unit_test(deflate_bomb),
        cmocka_unit_test(cut_files), cmocka_unit_test(manifests_of_other_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
