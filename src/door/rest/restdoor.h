/* SPDX-License-Identifier: Apache-2.0 */
/* restdoor.h - the Iceberg REST catalog: everything below /iceberg.
 *
 * Decodes a request, calls one verb of service/tables.h, encodes the answer.  The specification's error model, paging, ETags and vended
 * credentials.  Who calls: SigV4 (service s3tables, glue or execute-api), a bearer token from the token endpoint, or, with
 * auth_off, nobody at all from loopback, who acts as the account root.  Any thread may call. */
#ifndef FIRN_RESTDOOR_H
#define FIRN_RESTDOOR_H

#include "net/net.h"
#include "service/tables.h"

typedef struct RestOptions {
    SvcCtx svc;
    Str lake_url;                      /* "http://127.0.0.1:9090": the S3 endpoint told to clients that send no Host */
    int auth_off;                      /* auth.iceberg = off */
    int tls;                           /* the door speaks https */
} RestOptions;

typedef struct RestDoor RestDoor;
RestDoor *rest_new(const RestOptions *o);              /* copies the options; what svc points at must outlive the door */
void rest_free(RestDoor *d);
/* Any path that begins with /iceberg/ (or is /iceberg). Always fills an answer. */
void rest_handle(RestDoor *d, HttpRequest *r, HttpAnswer *ret);

#endif
