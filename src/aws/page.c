/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - tokens of paged answers.
 *
 * A token is base64 of a check and a position.  The check binds it to the operation and to the members that chose the list, so a token of
 * another call is refused.  It is no secret: a position only says where to go on in what the caller may see anyway. */
#include "aws/aws_int.h"

enum { CHECK_BYTES = 12, TOKEN_MAX = 4096, PAGE_MAX = 10000 };

static Str check_of(AwsCall *c, Str position)
{
    static const char *const free_fields[] = { "NextToken", "nextToken", "MaxResults", "maxResults", "MaxItems", "Marker", "continuationToken", "limit", "Limit", "maxBuckets", "maxTables", "maxNamespaces" };
    StrBuf b = sb_new(c->a);

    sb_fmt(&b, "%s.%s.", c->service->scope, c->op->name);
    for (size_t i = 0; i < c->in->object.n; i++) {
        bool skip = false;
        for (size_t k = 0; k < COUNT_OF(free_fields); k++)
            skip |= str_eq(c->in->object.p[i].key, str_c(free_fields[k]));
        if (skip)
            continue;
        sb_add(&b, c->in->object.p[i].key);
        sb_add(&b, json_text(c->a, c->in->object.p[i].value));
    }
    sb_add(&b, position);
    return str_sub(hash_bytes(c->a, HASH_SHA256, sb_str(&b)), 0, CHECK_BYTES);
}

Str aws_page_token(AwsCall *c, Str position) { return base64_encode(c->a, str_cat(c->a, check_of(c, position), position)); }

Status aws_page_start(AwsCall *c, const char *token_field, Str *position, Error *err)
{
    Str token = aws_str(c, token_field), raw;

    *position = (Str){0};
    if (!token.n)
        return OK;
    if (token.n <= TOKEN_MAX && base64_decode(c->a, token, &raw, err) == OK && raw.n >= CHECK_BYTES) {
        *position = str_from(raw, CHECK_BYTES);
        if (str_eq(check_of(c, *position), str_sub(raw, 0, CHECK_BYTES)))
            return OK;
    }
    return AWS_FAIL(err, E_INVALID, c->service->validation ? c->service->validation : "ValidationException", "%s is not a token of this call: a token goes on with the same operation and the same parameters", token_field);
}

Status aws_page(AwsCall *c, const char *list, Json *items, const char *token_field, const char *size_field, int64_t default_size, const char *token_out, Error *err)
{
    int64_t from = 0, size = aws_int(c, size_field, default_size);
    Json *page = json_array(c->a);
    Str position;

    TRY(aws_page_start(c, token_field, &position, err));
    if (position.n && (!str_to_i64(position, &from) || from < 0))
        from = 0;
    if (size <= 0 || size > PAGE_MAX)
        size = PAGE_MAX;
    int64_t to = min_i64((int64_t)json_len(items), from + size);
    for (int64_t i = from; i < to; i++)
        json_push(c->a, page, json_at(items, (size_t)i));
    aws_put(c, list, page);
    if (to < (int64_t)json_len(items))
        aws_put_str(c, token_out, aws_page_token(c, str_fmt(c->a, "%lld", (long long)to)));
    return OK;
}
