/* SPDX-License-Identifier: Apache-2.0 */
/* iam_certificates.c - server certificates: documents "server-certificate" by name.  The private key is checked for and let go: no server here would use it. */
#include "door/iam/iam_door_int.h"

static Json *show_metadata(AwsCall *c, const Json *r)
{
    static const char *const names[] = { "Path", "ServerCertificateName", "ServerCertificateId", "Arn" };
    Json *o = json_object(c->a);
    door_copy(c, o, r, names, COUNT_OF(names));
    door_set_time(c, o, "UploadDate", json_get_int(r, "UploadDate", 0));
    door_set_time(c, o, "Expiration", json_get_int(r, "Expiration", 0));
    return o;
}

static Status get_certificate(AwsCall *c, Json **ret, Error *err)
{
    Str name = aws_str(c, "ServerCertificateName");

    TRY(door_allow(c, door_arn(c, "server-certificate", (Str){0}, name), err));
    Status s = iam_doc_get(c->access, c->a, S("server-certificate"), name, ret, err);
    if (s == E_NOT_FOUND)
        return AWS_FAIL(err, E_NOT_FOUND, "NoSuchEntity", "The Server Certificate with name " STR_FMT " cannot be found.", STR_ARG(name));
    return s;
}

IAM_OP(UploadServerCertificate)
{
    static const char *const names[] = { "CertificateBody", "CertificateChain" };
    Str path = aws_has(c, "Path") ? aws_str(c, "Path") : S("/"), name = aws_str(c, "ServerCertificateName"), arn = door_arn(c, "server-certificate", path, name);
    Json *known, *r = json_object(c->a);
    int64_t now = clock_ms();

    TRY(door_check_path(path, err));
    TRY(door_check_name(name, "serverCertificateName", err));
    TRY(door_allow(c, arn, err));
    if (iam_doc_get(c->access, c->a, S("server-certificate"), name, &known, err) == OK)
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "The Server Certificate with name " STR_FMT " already exists.", STR_ARG(name));
    json_set(c->a, r, "Path", json_str(c->a, path));
    json_set(c->a, r, "ServerCertificateName", json_str(c->a, name));
    json_set(c->a, r, "ServerCertificateId", json_str(c->a, iam_new_id(c->a, "ASCA")));
    json_set(c->a, r, "Arn", json_str(c->a, arn));
    json_set(c->a, r, "UploadDate", json_int(c->a, now));
    json_set(c->a, r, "Expiration", json_int(c->a, now + 365LL * 86400000));
    door_copy(c, r, c->in, names, COUNT_OF(names));
    TRY(door_tags_add(c, r, err));
    TRY(iam_doc_put(c->access, S("server-certificate"), name, r, err));
    aws_put(c, "ServerCertificateMetadata", show_metadata(c, r));
    return OK;
}

IAM_OP(GetServerCertificate)
{
    static const char *const names[] = { "CertificateBody", "CertificateChain" };
    Json *r, *o = json_object(c->a);

    TRY(get_certificate(c, &r, err));
    json_set(c->a, o, "ServerCertificateMetadata", show_metadata(c, r));
    door_copy(c, o, r, names, COUNT_OF(names));
    if (json_len(json_get(r, "Tags")))
        json_set(c->a, o, "Tags", door_show_tags(c, json_get(r, "Tags")));
    aws_put(c, "ServerCertificate", o);
    return OK;
}

IAM_OP(DeleteServerCertificate)
{
    Json *r;

    TRY(get_certificate(c, &r, err));
    return iam_doc_put(c->access, S("server-certificate"), aws_str(c, "ServerCertificateName"), NULL, err);
}

static Status put_certificate(AwsCall *c, Str name, Json *r, Error *err) { return iam_doc_put(c->access, S("server-certificate"), name, r, err); }

IAM_OP(UpdateServerCertificate)
{
    Str name = aws_has(c, "NewServerCertificateName") ? aws_str(c, "NewServerCertificateName") : aws_str(c, "ServerCertificateName");
    Json *r, *known;

    TRY(get_certificate(c, &r, err));
    Str path = aws_has(c, "NewPath") ? aws_str(c, "NewPath") : json_get_str(r, "Path", S("/"));
    TRY(door_check_path(path, err));
    TRY(door_check_name(name, "newServerCertificateName", err));
    bool renamed = !str_eq(name, aws_str(c, "ServerCertificateName"));
    if (renamed && iam_doc_get(c->access, c->a, S("server-certificate"), name, &known, err) == OK)
        return AWS_FAIL(err, E_EXISTS, "EntityAlreadyExists", "The Server Certificate with name " STR_FMT " already exists.", STR_ARG(name));
    json_set(c->a, r, "Path", json_str(c->a, path));
    json_set(c->a, r, "ServerCertificateName", json_str(c->a, name));
    json_set(c->a, r, "Arn", json_str(c->a, door_arn(c, "server-certificate", path, name)));
    TRY(put_certificate(c, name, r, err));
    return renamed ? put_certificate(c, aws_str(c, "ServerCertificateName"), NULL, err) : OK;
}

IAM_OP(TagServerCertificate)
{
    Json *r;

    TRY(get_certificate(c, &r, err));
    TRY(door_tags_add(c, r, err));
    return put_certificate(c, aws_str(c, "ServerCertificateName"), r, err);
}

IAM_OP(UntagServerCertificate)
{
    Json *r;

    TRY(get_certificate(c, &r, err));
    TRY(door_tags_remove(c, r, err));
    return put_certificate(c, aws_str(c, "ServerCertificateName"), r, err);
}

IAM_OP(ListServerCertificateTags)
{
    Json *r;

    TRY(get_certificate(c, &r, err));
    return door_page(c, "Tags", door_show_tags(c, json_get(r, "Tags")), err);
}

IAM_OP(ListServerCertificates)
{
    Json *all, *items = json_array(c->a);

    TRY(door_allow(c, S("*"), err));
    TRY(iam_doc_list(c->access, c->a, S("server-certificate"), &all, err));
    for (size_t i = 0; i < json_len(all); i++)
        if (str_starts(json_get_str(json_at(all, i), "Path", S("/")), aws_str(c, "PathPrefix")))
            json_push(c->a, items, show_metadata(c, json_at(all, i)));
    return door_page(c, "ServerCertificateMetadataList", items, err);
}
