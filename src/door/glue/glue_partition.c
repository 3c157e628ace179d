/* SPDX-License-Identifier: Apache-2.0 */
/* glue_partition.c - partitions of external tables, one by one and by condition.
 *
 * A partition is a document under its table's id and its values; values are joined by escapes that sort as the values do.  Looking and writing are one
 * step under the door's lock, so of two creators one is told. */
#include "door/glue/glue_int.h"

/* Values are joined by a control character that, like the escape itself, is escaped inside of them. */
Str glue_values_key(Arena *a, int64_t relation_id, const Json *values)
{
    StrBuf b = sb_new(a);

    sb_fmt(&b, "%lld/", (long long)relation_id);
    for (size_t i = 0; i < json_len(values); i++) {
        Str v = json_at(values, i)->string;
        for (size_t k = 0; k < v.n; k++) {
            if (v.p[k] == 1 || v.p[k] == 2)
                sb_byte(&b, 2);
            sb_byte(&b, v.p[k]);
        }
        sb_byte(&b, 1);
    }
    return sb_str(&b);
}

/* The table that the operation is about; only those of the Glue catalog itself have partitions there. */
Status glue_partitioned(AwsCall *c, GlueName *n, CatRelation *r, Error *err)
{
    TRY(glue_table(c, aws_str(c, "DatabaseName"), aws_str(c, "TableName"), n, r, err));
    return OK;
}

const Json *glue_partition_keys(const CatRelation *r) { return json_get(json_get(r->extra, "glue"), "PartitionKeys"); }

static Status no_partition(Error *err) { return AWS_FAIL(err, E_NOT_FOUND, "EntityNotFoundException", "Cannot find partition."); }

static Status stored(AwsCall *c, const CatRelation *r, const Json *values, Json **ret, Error *err)
{
    Status s = cat_doc_get(glue_catalog(c), c->a, S(DOC_PARTITION), glue_values_key(c->a, r->id, values), ret, err);
    return s == E_NOT_FOUND ? no_partition(err) : s;
}

/* ---- shown ------------------------------------------------------------------------------------------------------------------ */

Json *glue_show_partition(AwsCall *c, const CatRelation *r, const Json *doc)
{
    Json *p = json_copy(c->a, json_get(doc, "input"));

    if (!json_get(p, "Values"))
        json_set(c->a, p, "Values", json_array(c->a));
    json_set(c->a, p, "DatabaseName", json_str(c->a, r->namespace));
    json_set(c->a, p, "TableName", json_str(c->a, r->name));
    json_set(c->a, p, "CreationTime", aws_time(c, json_get_int(doc, "created_ms", 0)));
    json_set(c->a, p, "CatalogId", json_str(c->a, r->catalog));
    return p;
}

Status glue_get_partition(AwsCall *c, Error *err)
{
    CatRelation r = {0};
    Json *doc = NULL;
    GlueName n = {0};

    TRY(glue_partitioned(c, &n, &r, err));
    TRY(stored(c, &r, aws_get(c, "PartitionValues"), &doc, err));
    aws_put(c, "Partition", glue_show_partition(c, &r, doc));
    return OK;
}

/* FNV-1a: the same partition is in the same segment whoever asks. */
static bool in_segment(const Json *segment, Str key)
{
    int64_t total = json_get_int(segment, "TotalSegments", 1);
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (unsigned char)key.p[i]) * 16777619u;
    return total <= 1 || (int64_t)(h % (uint32_t)total) == json_get_int(segment, "SegmentNumber", 0);
}

static Status check_segment(const Json *segment, Error *err)
{
    if (segment && json_get_int(segment, "SegmentNumber", 0) >= json_get_int(segment, "TotalSegments", 1))
        return FAIL(err, E_INVALID, "Segment.SegmentNumber must be below Segment.TotalSegments");
    return OK;
}

static void without_columns(AwsCall *c, Json *partition)
{
    if (aws_bool(c, "ExcludeColumnSchema", false) && json_get(partition, "StorageDescriptor"))
        json_del(json_get(partition, "StorageDescriptor"), S("Columns"));
}

static Status list_page(AwsCall *c, const CatRelation *r, const GlueExpr *e, Str after, const CatDocs *docs, Error *err)
{
    int64_t max = aws_int(c, "MaxResults", PAGE_PARTITIONS);
    Json *list = json_array(c->a);
    Str last = {0};

    for vec_each(CatDoc, d, docs) {
        bool holds = false;
        if ((after.n > 0 && str_cmp(d->key, after) <= 0) || !in_segment(aws_get(c, "Segment"), d->key))
            continue;
        TRY(glue_expr_holds(e, json_get(json_get(d->value, "input"), "Values"), &holds, err));
        if (!holds)
            continue;
        if ((int64_t)json_len(list) == max) {
            aws_put_str(c, "NextToken", aws_page_token(c, last));
            break;
        }
        Json *p = glue_show_partition(c, r, d->value);
        without_columns(c, p);
        json_push(c->a, list, p);
        last = d->key;
    }
    aws_put(c, "Partitions", list);
    return OK;
}

Status glue_get_partitions(AwsCall *c, Error *err)
{
    CatRelation r = {0};
    CatDocs docs = {0};
    GlueExpr *e = NULL;
    GlueName n = {0};
    Str after = {0};

    TRY(glue_partitioned(c, &n, &r, err));
    TRY(check_segment(aws_get(c, "Segment"), err));
    TRY(glue_expr_parse(c->a, aws_str(c, "Expression"), glue_partition_keys(&r), &e, err));
    TRY(aws_page_start(c, "NextToken", &after, err));
    TRY(cat_doc_list(glue_catalog(c), c->a, S(DOC_PARTITION), str_fmt(c->a, "%lld/", (long long)r.id), &docs, err));
    return list_page(c, &r, e, after, &docs, err);
}

/* ---- written ------------------------------------------------------------------------------------------------------------------ */

static Status ask_alter(AwsCall *c, const CatRelation *r, Error *err)
{
    Ask ask = { .action = ACT_ALTER_PROPERTIES, .api = str_fmt(c->a, "glue:%s", c->op->name).p, .iam = str_fmt(c->a, "glue:%s", c->op->name).p, .relation = r,
                .catalog = r->catalog, .namespace = r->namespace, .name = r->name };
    return access_check(c->access, c->a, &c->who, &ask, err);
}

Status glue_partition_writer(AwsCall *c, GlueName *n, CatRelation *r, Error *err)
{
    TRY(glue_partitioned(c, n, r, err));
    if (r->kind != REL_EXTERNAL)
        return FAIL(err, E_INVALID, "Table " STR_FMT " is an Iceberg table: its partitions are in its own metadata", STR_ARG(r->name));
    return ask_alter(c, r, err);
}

static Status check_values(const CatRelation *r, const Json *values, Error *err)
{
    size_t keys = json_len(glue_partition_keys(r)), n = json_len(values);

    if (keys > 0 && n != keys)
        return FAIL(err, E_INVALID, "The number of partition keys do not match the number of partition values: %zu keys, %zu values", keys, n);
    return OK;
}

static CatChange change_of(AwsCall *c, const CatRelation *r, const Json *values, const Json *input, int64_t created_ms)
{
    Json *doc = json_object(c->a);

    json_set(c->a, doc, "input", (Json *)input);
    json_set(c->a, doc, "created_ms", json_int(c->a, created_ms));
    return (CatChange){ .kind = CH_DOC, .doc_kind = S(DOC_PARTITION), .doc_key = glue_values_key(c->a, r->id, values), .doc = input ? doc : NULL };
}

static Status plan_create(AwsCall *c, const CatRelation *r, const Json *input, Map *planned, CatChange *ret, Error *err)
{
    const Json *values = json_get(input, "Values");
    Json *old = NULL;
    Error absent;

    TRY(check_values(r, values, err));
    *ret = change_of(c, r, values, input, clock_ms());
    if (map_has(planned, ret->doc_key) || stored(c, r, values, &old, &absent) == OK)
        return AWS_FAIL(err, E_EXISTS, "AlreadyExistsException", "Partition already exists.");
    map_put(planned, ret->doc_key, planned);
    return OK;
}

/* All that can be made, in one transaction; failed() is told of the others. */
static Status create_locked(AwsCall *c, const CatRelation *r, const Json *inputs, PartitionFailed failed, void *ctx, Error *err)
{
    CatChange *all = arena_array(c->a, CatChange, json_len(inputs) + 1);
    Map planned = map_new(c->a);
    size_t n = 0;

    for (size_t i = 0; i < json_len(inputs); i++) {
        Error why = {0};
        if (plan_create(c, r, json_at(inputs, i), &planned, &all[n], &why) == OK)
            n++;
        else
            failed(ctx, json_get(json_at(inputs, i), "Values"), &why);
    }
    return n > 0 ? cat_commit(glue_catalog(c), all, n, err) : OK;
}

/* The statistics of a partition that goes. */
static Status drop_statistics(AwsCall *c, const CatRelation *r, const Json *values, Error *err)
{
    Str key = glue_values_key(c->a, r->id, values);
    Str prefix = str_fmt(c->a, "%lld/p/" STR_FMT, (long long)r->id, STR_ARG(str_from(key, (size_t)str_chr(key, '/') + 1)));
    CatDocs docs = {0};

    TRY(cat_doc_list(glue_catalog(c), c->a, S(DOC_STATISTICS), prefix, &docs, err));
    CatChange *all = arena_array(c->a, CatChange, docs.n + 1);
    for (size_t i = 0; i < docs.n; i++)
        all[i] = (CatChange){ .kind = CH_DOC, .doc_kind = S(DOC_STATISTICS), .doc_key = docs.p[i].key };
    return docs.n > 0 ? cat_commit(glue_catalog(c), all, docs.n, err) : OK;
}

/* Where the values stay, the partition is replaced; else it moves, without its statistics. */
static Status update_locked(AwsCall *c, const CatRelation *r, const Json *old_values, const Json *given, Error *err)
{
    Json *old = NULL, *there = NULL, *input = json_copy(c->a, given);
    CatChange ch[2];
    size_t n = 0;
    Error absent;

    if (!json_get(input, "Values"))
        json_set(c->a, input, "Values", (Json *)old_values);
    const Json *values = json_get(input, "Values");
    TRY(stored(c, r, old_values, &old, err));
    TRY(check_values(r, values, err));
    bool moves = !json_equal(values, old_values);
    if (moves && stored(c, r, values, &there, &absent) == OK)
        return AWS_FAIL(err, E_EXISTS, "AlreadyExistsException", "Partition already exists.");
    if (moves)
        TRY(drop_statistics(c, r, old_values, err));
    if (moves)
        ch[n++] = change_of(c, r, old_values, NULL, 0);
    ch[n++] = change_of(c, r, values, input, json_get_int(old, "created_ms", clock_ms()));
    return cat_commit(glue_catalog(c), ch, n, err);
}

static Status delete_locked(AwsCall *c, const CatRelation *r, const Json *values, Error *err)
{
    Json *old = NULL;

    TRY(stored(c, r, values, &old, err));
    TRY(drop_statistics(c, r, values, err));
    CatChange ch = change_of(c, r, values, NULL, 0);
    return cat_commit(glue_catalog(c), &ch, 1, err);
}

Status glue_partitions_create(AwsCall *c, const CatRelation *r, const Json *inputs, PartitionFailed failed, void *ctx, Error *err)
{
    pthread_mutex_lock(&GLUE_DOOR(c)->docs);
    Status s = create_locked(c, r, inputs, failed, ctx, err);
    pthread_mutex_unlock(&GLUE_DOOR(c)->docs);
    return s;
}

Status glue_partition_update(AwsCall *c, const CatRelation *r, const Json *old_values, const Json *input, Error *err)
{
    pthread_mutex_lock(&GLUE_DOOR(c)->docs);
    Status s = update_locked(c, r, old_values, input, err);
    pthread_mutex_unlock(&GLUE_DOOR(c)->docs);
    return s;
}

Status glue_partition_delete(AwsCall *c, const CatRelation *r, const Json *values, Error *err)
{
    pthread_mutex_lock(&GLUE_DOOR(c)->docs);
    Status s = delete_locked(c, r, values, err);
    pthread_mutex_unlock(&GLUE_DOOR(c)->docs);
    return s;
}

static void keep_error(void *ctx, const Json *values UNUSED, const Error *why) { *(Error *)ctx = *why; }

Status glue_create_partition(AwsCall *c, Error *err)
{
    Json *one = json_array(c->a);
    CatRelation r = {0};
    Error why = {0};
    GlueName n = {0};

    TRY(glue_partition_writer(c, &n, &r, err));
    json_push(c->a, one, (Json *)aws_get(c, "PartitionInput"));
    TRY(glue_partitions_create(c, &r, one, keep_error, &why, err));
    if (why.code != OK)
        *err = why;
    return why.code;
}

Status glue_update_partition(AwsCall *c, Error *err)
{
    CatRelation r = {0};
    GlueName n = {0};

    TRY(glue_partition_writer(c, &n, &r, err));
    return glue_partition_update(c, &r, aws_get(c, "PartitionValueList"), aws_get(c, "PartitionInput"), err);
}

Status glue_delete_partition(AwsCall *c, Error *err)
{
    CatRelation r = {0};
    GlueName n = {0};

    TRY(glue_partition_writer(c, &n, &r, err));
    return glue_partition_delete(c, &r, aws_get(c, "PartitionValues"), err);
}
