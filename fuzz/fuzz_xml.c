/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_xml.c - what parses is written by the writer and parses again with as many elements. */
#include "codec/codec.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count(const Xml *x)
{
    size_t n = 1;
    for (size_t i = 0; i < x->children.n; i++)
        n += count(x->children.p[i]);
    return n;
}

/* Without its prefix a name may begin with a digit or be empty, so it gets a letter in front. */
static void write(XmlWriter *w, const Xml *x)
{
    xw_open(w, str_fmt(w->b.a, "x" STR_FMT, STR_ARG(x->name)).p);
    xw_text(w, x->text);
    for (size_t i = 0; i < x->children.n; i++)
        write(w, x->children.p[i]);
    xw_close(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Xml *x, *again;
    Error err;

    if (xml_parse(a, str_n((const char *)data, size), &x, &err) != OK)
        return 0;
    XmlWriter w = xw_new(a);
    write(&w, x);
    if (xml_parse(a, xw_done(&w), &again, &err) != OK || count(x) != count(again))
        abort();
    return 0;
}
