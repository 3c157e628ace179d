/* SPDX-License-Identifier: Apache-2.0 */
/* test_google.c - the request for a token of a Google service account: what it says, and where it may go. */
#include "remote/remote_int.h"
#include "test.h"

/* Made for this test, of no account. */
#define PEM \
    "-----BEGIN PRIVATE KEY-----\\n" \
    "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDmBpi2IkqA0a1G\\n" \
    "DGbwcx3IMIy5qOXKgQ/KX4rLurOjVA0RLq+ytn39IMstOij3d5F+W9+IpQpz580p\\n" \
    "MJq+eH9Sx/uOw6aYXmIetBRcWDRmqt3qfxyujuTqXc69qkx9HXBBw41qNa2McWQQ\\n" \
    "wiY98Vb36uYptgM094d9rwmiUcf2cMR0hVWdqjLSaHJgZKt10rrrJVxnC24D1Df3\\n" \
    "7EVGw+eTa0lQfhqy/a28QtEP7QLxoJ4zs7SjiNqwubghMtzCuPtnNMpzZOtdlkYh\\n" \
    "/ki6w9o90XqVseuFBMLlw2kDWHcwZkoGu/lxi3Z1Ui3TdZIJ4kzLgq+dOkvF/lcO\\n" \
    "SPQPeCCBAgMBAAECggEAMkWQzIV0CPFKUDvXp4dRI/ZQWycpiXdpbw4wdFQKfJCb\\n" \
    "Bn1QkttFb7PiE7FZULRGDPqhQOjo/unTMcRYnXYSRZJFTS8/Up+WDCXJKWFxmlqP\\n" \
    "g3diWlgKeZok29jDPLjZVtYZKvQuSLpjZzI3T2RWYHpq8QTBcKsEZpiBn4MGE7qp\\n" \
    "YljXOOPXsVTLP6fWOIROOZBNFtO9JnEjz2F+WYj4I2Pzpl1mgLjzkUaumsO8/WKR\\n" \
    "iwvGAhDKYTzoD6Jdq/8Cjm2+YqgmA9A9I8oJooMfwsIfxiQPuycAj+g/wDKTXKde\\n" \
    "/UMg2Sc5wqqkEgKPz1p+w/9p+z9A7uyyhJA1ZSGAEQKBgQD7TQimjzAXIUCTy6PR\\n" \
    "wnLD5wfyEBgSwyLzKx0AdZ3SnvFiPiQllLk0Ll2AJUz0pb5+6YJkEIGFBmi1JH2K\\n" \
    "zHjJQsBTfwbVOuT0lrHOP8zQT5wFtA/3QcO4GX2SK7JZcxknWNu23GpYE5AMvosq\\n" \
    "TQNTtCrIRKTcEKdcrSZx2KPatQKBgQDqU7g1s4lFsPfjE73wcneiQ1LTwR8TOElr\\n" \
    "ikeUQ3YEbv8ThF1WggdFcwuoE6yW5nW9UKOmTDxkhH3HcPwTRgsH2KF9r4cYA01x\\n" \
    "bgBLbYdOvrisVnAbj/ikcFqBxm5XYH1hy+tEoghZBrjgIt0KB4EwfWEOIyNiHxXJ\\n" \
    "ORp3ZQ0yHQKBgG0/mRInz6VOjG90KTzIhvIJnxepzX1infAO/yWy/DCTbqbiEv7P\\n" \
    "gBBiU72g+aql34H26/uqfVQibCTLv1Q2/g+o2Em0QHk0iFKYrKXYcKbi5RZJqGM6\\n" \
    "kOaZFlEUdA2VDwtfAu2lNwohPw97Sq7SGi8qdSrpRK5zAv80OzFlGB69AoGBANsx\\n" \
    "JQdWwfmm6LpJJUteR/pI75mU9PSNmmA2IW7XC/ZpvcEL+COLzjFwxF6cyLz/JvPI\\n" \
    "EszkUznTlbSSQ7njsz3LroRbRQt5S1/nfe8QrZlDXowW7xdZPUTUtFTgwSaK474v\\n" \
    "egvhZd2hJB7Ffe57xqUNI1SOGfMXENIB0HgO1qEhAoGBALowal+O0Mcs0Kh8T5PK\\n" \
    "dVzYGdNUHPJQ4d9yNvWRwUZ9lOYPy3viBa+z+h2noGolZLqQGlURc4i1B8b3FwYZ\\n" \
    "FYYok4pNrm0rpUHeS6hg1fo4kdLMbQqId2HRVhKnjtv+Aqd51Pv+hpNSxg0aPVkN\\n" \
    "slqPUe/FbUrS3u7P3mK28C1S\\n" \
    "-----END PRIVATE KEY-----\\n"

static Arena *arena;
static Error err;

static int setup(void **state UNUSED)
{
    arena = arena_create();
    return 0;
}

static int teardown(void **state UNUSED)
{
    arena_destroyp(&arena);
    return 0;
}

static Str key(const char *more)
{
    return str_fmt(arena, "{\"type\": \"service_account\", \"private_key_id\": \"abc\", \"client_email\": \"sink@p.iam.gserviceaccount.com\", \"private_key\": \"" PEM "\"%s}", more);
}

static Json *part(Str jwt, int n)
{
    StrVec parts = {0};
    Json *j = NULL;
    Str text;

    str_split(arena, jwt, '.', &parts);
    assert_int_equal(parts.n, 3);
    assert_ok(base64_decode(arena, parts.p[n], &text, &err), &err);
    assert_ok(json_parse(arena, text, &j, &err), &err);
    return j;
}

static void asks(void **state UNUSED)
{
    Str url, body, head = S("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=");

    assert_ok(remote_google_ask(arena, key(""), 1800000000, &url, &body, &err), &err);
    assert_str(url, "https://oauth2.googleapis.com/token");
    assert_true(str_starts(body, head));
    assert_str(json_text(arena, part(str_from(body, head.n), 0)), "{\"alg\":\"RS256\",\"kid\":\"abc\",\"typ\":\"JWT\"}");
    Json *c = part(str_from(body, head.n), 1);
    assert_str(json_get_str(c, "iss", (Str){0}), "sink@p.iam.gserviceaccount.com");
    assert_str(json_get_str(c, "aud", (Str){0}), "https://oauth2.googleapis.com/token");
    assert_str(json_get_str(c, "scope", (Str){0}), "https://www.googleapis.com/auth/cloud-platform");
    assert_int_equal(json_get_int(c, "iat", 0), 1800000000);
    assert_int_equal(json_get_int(c, "exp", 0), 1800003600);
}

static void goes_to_google_alone(void **state UNUSED)
{
    static const char *const good[] = { "https://googleapis.com/token", "https://oauth2.googleapis.com/token", "https://a.b.googleapis.com" };
    static const char *const bad[] = { "http://oauth2.googleapis.com/token", "https://evil.example/token", "https://oauth2.googleapis.com.evil.example/token", "https://evilgoogleapis.com/token",
                                       "https://x@oauth2.googleapis.com/token", "https://oauth2.googleapis.com:8443/token", "https://evil.example#.googleapis.com/", "https://evil.example?.googleapis.com/",
                                       "https://evil.example\\\\.googleapis.com/", "https://evil.example .googleapis.com/", "" };
    Str url, body;

    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_ok(remote_google_ask(arena, key(str_z(arena, str_fmt(arena, ", \"token_uri\": \"%s\"", good[i]))), 1, &url, &body, &err), &err);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_status(remote_google_ask(arena, key(str_z(arena, str_fmt(arena, ", \"token_uri\": \"%s\"", bad[i]))), 1, &url, &body, &err), E_DENIED);
}

static void keys_that_are_none(void **state UNUSED)
{
    static const char *const bad[] = { "", "nonsense SECRETTEXT", "[]", "{}", "{\"type\": \"authorized_user\"}", "{\"type\": \"service_account\"}", "{\"type\": \"service_account\", \"client_email\": \"x\"}",
                                       "{\"type\": \"service_account\", \"client_email\": \"x\", \"private_key\": \"SECRETTEXT\"}" };
    Str url, body;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_status(remote_google_ask(arena, str_c(bad[i]), 1, &url, &body, &err), E_INVALID);
        assert_null(strstr(err.message, "SECRETTEXT"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(asks), cmocka_unit_test(goes_to_google_alone), cmocka_unit_test(keys_that_are_none) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
