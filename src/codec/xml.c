/* SPDX-License-Identifier: Apache-2.0 */
/* xml.c - XML text to a tree by expat, and a writer that owns escaping and closing.
 *
 * A document type declaration ends parsing at once, so that neither entities nor external files come into play.
 * Names lose their prefix: S3 clients put the same elements in and out of namespaces.
 *
 * Invariants: (1) `open` holds the elements from the root to the current one, at most XML_MAX_DEPTH;
 * (2) after the first refusal no handler does anything. */
#include "codec/codec.h"

#include <expat.h>
#include <stdio.h>
#include <stdlib.h>

enum { XML_MAX_DEPTH = 64, XML_MAX_NODES = 200 * 1000 };

typedef struct { Xml *x; StrBuf text; } OpenElement;

typedef struct {
    Arena *a;
    XML_Parser expat;
    OpenElement open[XML_MAX_DEPTH];
    size_t depth, nodes;
    Xml *root;
    Status status;
    Error *err;
} XmlReader;

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attrs);
static void XMLCALL on_end(void *data, const XML_Char *name);
static void XMLCALL on_text(void *data, const XML_Char *p, int n);
static void XMLCALL on_doctype(void *data, const XML_Char *name, const XML_Char *sysid, const XML_Char *pubid, int subset);

static void parser_freep(XML_Parser *p) { XML_ParserFree(*p); }

Status xml_parse(Arena *a, Str text, Xml **ret, Error *err)
{
    CLEANUP(parser_freep) XML_Parser expat = XML_ParserCreate(NULL);
    XmlReader r = { .a = a, .expat = expat, .err = err };

    if (text.n > LIMIT_XML_BYTES)
        return FAIL(err, E_LIMIT, "XML of %zu bytes, limit is %d", text.n, LIMIT_XML_BYTES);
    if (!expat)
        return FAIL(err, E_INTERNAL, "expat does not start");
    XML_SetUserData(expat, &r);
    XML_SetElementHandler(expat, on_start, on_end);
    XML_SetCharacterDataHandler(expat, on_text);
    XML_SetStartDoctypeDeclHandler(expat, on_doctype);
    enum XML_Status parsed = XML_Parse(expat, text.n ? text.p : "", (int)text.n, 1);
    TRY(r.status);
    if (parsed != XML_STATUS_OK)
        return FAIL(err, E_SYNTAX, "XML line %lu column %lu: %s", XML_GetCurrentLineNumber(expat),
                    XML_GetCurrentColumnNumber(expat) + 1, XML_ErrorString(XML_GetErrorCode(expat)));
    *ret = r.root;
    return OK;
}

static void refuse(XmlReader *r, Status code, const char *what)
{
    if (r->status == OK)
        r->status = FAIL(r->err, code, "XML line %lu: %s", XML_GetCurrentLineNumber(r->expat), what);
    XML_StopParser(r->expat, XML_FALSE);
}

static Str local_name(Arena *a, const char *name)
{
    const char *colon = strrchr(name, ':');
    return str_dup(a, str_c(colon ? colon + 1 : name));
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attrs)
{
    XmlReader *r = data;

    if (r->status != OK)                                                        /* (2) */
        return;
    if (r->depth == XML_MAX_DEPTH || ++r->nodes > XML_MAX_NODES) {
        refuse(r, E_LIMIT, "nested too deeply or too many elements");
        return;
    }
    Xml *x = arena_new(r->a, Xml);
    x->name = local_name(r->a, name);
    if (!x->name.n)
        refuse(r, E_SYNTAX, "an element without a name");
    for (; *attrs; attrs += 2) {
        if (++r->nodes > XML_MAX_NODES) {
            refuse(r, E_LIMIT, "too many attributes");
            return;
        }
        vec_push(r->a, &x->attrs, ((KeyValue){ local_name(r->a, attrs[0]), str_dup(r->a, str_c(attrs[1])) }));
    }
    if (r->depth)
        vec_push(r->a, &r->open[r->depth - 1].x->children, x);
    else
        r->root = x;
    r->open[r->depth++] = (OpenElement){ x, sb_new(r->a) };
}

static void XMLCALL on_end(void *data, const XML_Char *name UNUSED)
{
    XmlReader *r = data;

    if (r->status != OK)
        return;
    OpenElement *e = &r->open[--r->depth];
    if (e->text.n)
        e->x->text = sb_str(&e->text);
}

static void XMLCALL on_text(void *data, const XML_Char *p, int n)
{
    XmlReader *r = data;
    if (r->status == OK && r->depth)
        sb_add(&r->open[r->depth - 1].text, str_n(p, (size_t)n));
}

static void XMLCALL on_doctype(void *data, const XML_Char *name UNUSED, const XML_Char *sysid UNUSED,
                               const XML_Char *pubid UNUSED, int subset UNUSED)
{
    refuse(data, E_SYNTAX, "a document type declaration is not allowed");
}

Xml *xml_child(const Xml *x, const char *name)
{
    for (size_t i = 0; x && i < x->children.n; i++)
        if (str_eq(x->children.p[i]->name, str_c(name)))
            return x->children.p[i];
    return NULL;
}

Str xml_child_text(const Xml *x, const char *name, Str fallback)
{
    const Xml *child = xml_child(x, name);
    return child ? child->text : fallback;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

XmlWriter xw_new(Arena *a)
{
    XmlWriter w = { .b = sb_new(a) };
    sb_addc(&w.b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    return w;
}

/* A start tag stays open for attributes until something else comes. */
static void end_tag(XmlWriter *w)
{
    if (w->in_tag)
        sb_byte(&w->b, '>');
    w->in_tag = false;
}

/* Control characters have no form in XML 1.0; as S3 does, they go out as references. */
static void escape(StrBuf *b, unsigned char c)
{
    switch (c) {
    case '&': sb_addc(b, "&amp;"); break;
    case '<': sb_addc(b, "&lt;"); break;
    case '>': sb_addc(b, "&gt;"); break;
    case '"': sb_addc(b, "&quot;"); break;
    default:
        if (c < 0x20)
            sb_fmt(b, "&#x%x;", c);
        else
            sb_byte(b, (char)c);
    }
}

/* Length of the valid UTF-8 sequence at s, 0: none. */
static size_t sequence(Str s)
{
    for (size_t n = 1; n <= 4 && n <= s.n; n++)
        if (str_is_utf8(str_sub(s, 0, n)))
            return n;
    return 0;
}

static void add_escaped(StrBuf *b, Str s)
{
    while (s.n) {
        size_t n = sequence(s);
        if (n == 1)
            escape(b, (unsigned char)s.p[0]);
        else
            sb_add(b, n ? str_sub(s, 0, n) : S("\xEF\xBF\xBD"));
        s = str_from(s, n ? n : 1);
    }
}

static void defect(const char *what)
{
    fprintf(stderr, "firn: XML writer: %s\n", what);
    abort();
}

void xw_open(XmlWriter *w, const char *name)
{
    end_tag(w);
    sb_byte(&w->b, '<');
    sb_addc(&w->b, name);
    vec_push(w->b.a, &w->open, str_c(name));
    w->in_tag = true;
}

void xw_attr(XmlWriter *w, const char *name, Str value)
{
    if (!w->in_tag)
        defect("an attribute outside of a start tag");
    sb_byte(&w->b, ' ');
    sb_addc(&w->b, name);
    sb_addc(&w->b, "=\"");
    add_escaped(&w->b, value);
    sb_byte(&w->b, '"');
}

void xw_text(XmlWriter *w, Str text)
{
    end_tag(w);
    add_escaped(&w->b, text);
}

void xw_close(XmlWriter *w)
{
    if (!w->open.n)
        defect("nothing is open");
    Str name = w->open.p[--w->open.n];
    end_tag(w);
    sb_addc(&w->b, "</");
    sb_add(&w->b, name);
    sb_byte(&w->b, '>');
}

void xw_elem(XmlWriter *w, const char *name, Str text)
{
    xw_open(w, name);
    xw_text(w, text);
    xw_close(w);
}

void xw_int(XmlWriter *w, const char *name, int64_t v) { xw_elem(w, name, str_fmt(w->b.a, "%lld", (long long)v)); }
void xw_bool(XmlWriter *w, const char *name, int truth) { xw_elem(w, name, truth ? S("true") : S("false")); }

Str xw_done(XmlWriter *w)
{
    if (w->open.n)
        defect("an element is still open");
    return sb_str(&w->b);
}
