/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"
#include "test.h"

static void reads_elements_text_and_attributes(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Xml *x;
    Error err;
    assert_ok(xml_parse(a, S("<?xml version=\"1.0\"?><s3:Delete xmlns:s3=\"urn:x\" Quiet='t&lt;'>\n"
                             " <s3:Object><Key> a&amp;b<![CDATA[<c>]]>&#xfc; </Key></s3:Object><Object/></s3:Delete>"), &x, &err), &err);
    assert_str(x->name, "Delete");
    assert_str(props_get(&x->attrs, S("Quiet"), S("")), "t<");
    assert_int_equal(x->children.n, 2);
    assert_str(xml_child_text(xml_child(x, "Object"), "Key", S("?")), " a&b<c>\xc3\xbc ");
    assert_str(xml_child_text(x->children.p[1], "Key", S("?")), "?");
    assert_null(xml_child(NULL, "x"));
}

static void refuses(void **state UNUSED)
{
    static const char *const bad[] = {
        "", "<a>", "<a></b>", "<a/><b/>", "text", "<a b='1' b='2'/>", "<a>&nope;</a>", "<a>\xff</a>", "<a>\x01</a>", "<a:/>",
        "<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY b \"b\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>",
    };
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Error err;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        Xml *x;
        if (xml_parse(a, str_c(bad[i]), &x, &err) != E_SYNTAX)
            fail_msg("%s is not refused", bad[i]);
    }
}

static Str nested(Arena *a, int depth)
{
    StrBuf b = sb_new(a);
    for (int i = 0; i < depth; i++)
        sb_addc(&b, "<a>");
    for (int i = 0; i < depth; i++)
        sb_addc(&b, "</a>");
    return sb_str(&b);
}

static void limits(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Xml *x;
    Error err;
    StrBuf b = sb_new(a);
    assert_ok(xml_parse(a, nested(a, 64), &x, &err), &err);
    assert_status(xml_parse(a, nested(a, 65), &x, &err), E_LIMIT);
    sb_addc(&b, "<a>");
    for (int i = 0; i < 300000; i++)
        sb_addc(&b, "<b/>");
    sb_addc(&b, "</a>");
    assert_status(xml_parse(a, sb_str(&b), &x, &err), E_LIMIT);
    assert_status(xml_parse(a, str_n(arena_alloc(a, LIMIT_XML_BYTES + 1), LIMIT_XML_BYTES + 1), &x, &err), E_LIMIT);
}

static void writes_what_it_reads(void **state UNUSED)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    XmlWriter w = xw_new(a);
    Xml *x;
    Error err;
    xw_open(&w, "List");
    xw_attr(&w, "xmlns", S("urn:\"<&"));
    xw_elem(&w, "Key", S("a<b>&\"\r\n\xc3\xbc\xff"));
    xw_elem(&w, "Prefix", S(""));
    xw_int(&w, "Max", -1000);
    xw_bool(&w, "More", 1);
    xw_open(&w, "Empty");
    xw_close(&w);
    xw_close(&w);
    Str text = xw_done(&w);
    assert_str(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<List xmlns=\"urn:&quot;&lt;&amp;\">"
                     "<Key>a&lt;b&gt;&amp;&quot;&#xd;&#xa;\xc3\xbc\xEF\xBF\xBD</Key><Prefix></Prefix><Max>-1000</Max>"
                     "<More>true</More><Empty></Empty></List>");
    assert_ok(xml_parse(a, text, &x, &err), &err);
    assert_str(xml_child_text(x, "Key", S("")), "a<b>&\"\r\n\xc3\xbc\xEF\xBF\xBD");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_elements_text_and_attributes), cmocka_unit_test(refuses), cmocka_unit_test(limits),
        cmocka_unit_test(writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
