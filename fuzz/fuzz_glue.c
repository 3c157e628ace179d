/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_glue.c - texts of the Glue catalog: 'p' a pattern of names, 'e' a partition expression, 't' a Hive type.
 *
 * A failure must carry a message; a pattern that compiles must end on any name; a type that parses must read as its own text again. */
#include "door/glue/glue_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pattern(Arena *a, Str text)
{
    GluePattern *p;
    Error err = {0};

    if (glue_pattern(a, text, &p, &err) == OK) {
        (void)glue_matches(a, p, str_sub(text, 0, 255));
        (void)glue_matches(a, p, S("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
    } else if (!err.message[0]) {
        abort();
    }
}

static void expression(Arena *a, Str text)
{
    static const char *const keys_text = "[{\"Name\": \"n\", \"Type\": \"int\"}, {\"Name\": \"s\", \"Type\": \"string\"}, {\"Name\": \"d\", \"Type\": \"date\"}, {\"Name\": \"t\", \"Type\": \"timestamp\"}]";
    Json *keys, *values;
    GlueExpr *e;
    Error err = {0};
    bool holds;

    if (json_parse(a, str_c(keys_text), &keys, &err) != OK || json_parse(a, S("[\"7\", \"x\", \"2026-11-30\", \"2026-11-30 10:00:00\"]"), &values, &err) != OK)
        abort();
    err.message[0] = 0;
    Status s = glue_expr_parse(a, text, keys, &e, &err);
    if ((s == OK && glue_expr_holds(e, values, &holds, &err) != OK) || (s != OK && !err.message[0]))
        abort();
}

static void type(Arena *a, Str text)
{
    IceType *t, *again;
    int32_t next = 1;
    Error err = {0};

    if (hive_type_parse(a, text, &next, &t, &err) != OK)
        return;
    Str shown = hive_type_text(a, t);
    if (hive_type_parse(a, shown, &next, &again, &err) != OK || !str_eq(hive_type_text(a, again), shown))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 4096)
        return 0;
    Arena *a = arena_create();
    Str text = str_n((const char *)data + 1, size - 1);
    if (data[0] == 'p')
        pattern(a, text);
    else if (data[0] == 'e')
        expression(a, text);
    else
        type(a, text);
    arena_destroy(a);
    return 0;
}
