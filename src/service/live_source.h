/* SPDX-License-Identifier: Apache-2.0 */
/* live_source.h - sources of the live side: planned, made, started, and what comes in by webhooks.
 *
 * An Object of kind OBJ_SOURCE; `type` as mz_sources.type.  detail is {"options": {…}, "output": {…}}: the connector's options (source/source.h) where {"$connection": <id>}
 * and {"$secret": <id>} stand for what is looked up at each start; "output" when the source is a relation itself.  An output that is an object of its own (OBJ_SOURCE of
 * type "subsource" or "progress", OBJ_TABLE from a source) has detail {"source": <id>, "output": {…}} and names the source among what it uses.
 * output: {"name", "external", "pinned", "key": […]}; its columns are the object's, its relation is the object's number. */
#ifndef FIRN_LIVE_SOURCE_H
#define FIRN_LIVE_SOURCE_H

#include "remote/remote.h"
#include "service/live_sql.h"
#include "source/source.h"

extern const LiveHooks source_hooks;                  /* OBJ_SOURCE's */
extern const LiveHooks source_table_hooks;            /* OBJ_TABLE's: from a source, which goes on without it when it is dropped, or from a webhook */
NODISCARD Status source_may_drop(const Object *o, Error *err);      /* E_INVALID: a subsource, which goes by ALTER SOURCE or with its source */
int64_t source_part_of(const Object *o);              /* the source that writes into it; 0: none does */
NODISCARD Status source_begin(Service *s, const Object *o, Error *err);       /* with the outputs that it has now; one that runs begins anew */
bool source_owns(const Object *o);                    /* written by a source: nobody else may */

struct Sources *live_sources_new(Service *s);
NODISCARD Status source_catalog_of(void *svc, int64_t connection, RemoteCatalog **ret, Error *err);         /* SourcesOptions.catalog */

/* live_source_options.c: the statement's options as the connector takes them, unresolved; secrets and connections it names are added to `uses`. */
NODISCARD Status source_options_of(Run *r, Object *o, Json **ret, Error *err);
/* CREATE TABLE … FROM SOURCE: the source's, and what the statement adds. */
NODISCARD Status source_table_options(Run *r, Object *table, const Object *source, Json **ret, Error *err);
NODISCARD Status source_resolve(Service *s, Arena *a, const Json *options, Json **ret, Error *err);

/* POST /api/webhook/<database>/<schema>/<name>. E_NOT_FOUND: no such source. */
NODISCARD Status svc_webhook(Service *s, Str database, Str schema, Str name, const WebhookRequest *q, Error *err);

#endif
