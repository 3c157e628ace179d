/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_athena.c - any bytes to the Athena door's own parsers. The first byte chooses: 'c' lines of a result file, 'x' patterns (before and after a newline),
 * else the text of a statement.
 *
 * Cells written again as CSV give the same cells; what PREPARE and EXECUTE take out of a text lies in it. */
#include "door/athena/athena_int.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_line(StrBuf *b, const CsvLine *line)
{
    for (size_t i = 0; i < line->cells.n; i++) {
        sb_addc(b, i ? "," : "");
        if (line->cells.p[i].p)
            csv_cell(b, line->cells.p[i]);
    }
    sb_byte(b, '\n');
}

static void lines(Arena *a, Str text)
{
    CsvLine line, again;
    Error err;

    while (csv_line(a, text, &line, &err) == OK && line.has) {
        StrBuf b = sb_new(a);
        if (line.used > text.n || !line.used)
            abort();
        write_line(&b, &line);
        if (csv_line(a, sb_str(&b), &again, &err) != OK || !again.has || again.cells.n != line.cells.n || again.used != b.n)
            abort();
        for (size_t i = 0; i < line.cells.n; i++)
            if (!str_eq(line.cells.p[i], again.cells.p[i]) || !line.cells.p[i].p != !again.cells.p[i].p)
                abort();
        text = str_from(text, line.used);
    }
}

static void inside(Str text, Str part)
{
    if (part.n && (part.p < text.p || part.p + part.n > text.p + text.n))
        abort();
}

static void statement(Arena *a, Str text)
{
    Prep p;
    Error err = {0};

    if (prep_parse(a, text, &p, &err) == OK) {
        inside(text, p.name);
        inside(text, p.query);
        for vec_each(Str, s, &p.params)
            inside(text, *s);
    } else if (!err.message[0]) {
        abort();
    }
}

static void pattern(Str text)
{
    Str one, other;
    Error err;

    str_cut(text, '\n', &one, &other);
    if (one.n <= 256 && pattern_check(one, &err) == OK)
        (void)pattern_match(one, other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();

    if (size < 1 || size > 65536)
        return 0;
    Str text = str_dup(a, str_n((const char *)data + 1, size - 1));
    if (data[0] == 'c')
        lines(a, text);
    else if (data[0] == 'x')
        pattern(text);
    else
        statement(a, text);
    return 0;
}
