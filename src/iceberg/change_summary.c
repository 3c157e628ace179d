/* SPDX-License-Identifier: Apache-2.0 */
/* change_summary.c - the counters of a snapshot's summary.
 *
 * Totals go on from the parent's where it has them; a total that would be negative is left out.  Nobody may decide
 * anything by them. */
#include "iceberg/change_int.h"

typedef struct Tally {
    int64_t data_files, records, bytes, delete_files, equality_files, position_files, vectors, position_deletes, equality_deletes;
} Tally;

static void tally(Tally *t, const IceFile *f)
{
    t->bytes = ice_add_sat(t->bytes, ice_is_dv(f) && f->content_size.has ? f->content_size.v : f->size);
    if (f->content == CONTENT_DATA) {
        t->data_files++;
        t->records = ice_add_sat(t->records, f->record_count);
        return;
    }
    t->delete_files++;
    if (f->content == CONTENT_EQUALITY_DELETES) {
        t->equality_files++;
        t->equality_deletes = ice_add_sat(t->equality_deletes, f->record_count);
        return;
    }
    t->position_deletes = ice_add_sat(t->position_deletes, f->record_count);
    if (ice_is_dv(f))
        t->vectors++;
    else
        t->position_files++;
}

static void put(Commit *c, IceSnapshot *s, const char *key, int64_t n)
{
    if (n > 0)
        props_set(c->a, &s->summary, str_c(key), str_fmt(c->a, "%lld", (long long)n));
}

static void put_tally(Commit *c, IceSnapshot *s, const Tally *add, const Tally *del)
{
    put(c, s, "added-data-files", add->data_files);
    put(c, s, "deleted-data-files", del->data_files);
    put(c, s, "added-delete-files", add->delete_files);
    put(c, s, "removed-delete-files", del->delete_files);
    put(c, s, "added-equality-delete-files", add->equality_files);
    put(c, s, "removed-equality-delete-files", del->equality_files);
    put(c, s, "added-position-delete-files", add->position_files);
    put(c, s, "removed-position-delete-files", del->position_files);
    put(c, s, "added-dvs", add->vectors);
    put(c, s, "removed-dvs", del->vectors);
    put(c, s, "added-records", add->records);
    put(c, s, "deleted-records", del->records);
    put(c, s, "added-files-size", add->bytes);
    put(c, s, "removed-files-size", del->bytes);
    put(c, s, "added-position-deletes", add->position_deletes);
    put(c, s, "removed-position-deletes", del->position_deletes);
    put(c, s, "added-equality-deletes", add->equality_deletes);
    put(c, s, "removed-equality-deletes", del->equality_deletes);
}

static void put_total(Commit *c, IceSnapshot *s, const char *key, int64_t added, int64_t removed)
{
    int64_t before = c->ch->replace_all ? removed : 0;       /* nothing is left but what is added */

    if (c->parent && !c->ch->replace_all && !str_to_i64(props_get(&c->parent->summary, str_c(key), S("")), &before))
        return;
    before = ice_sub_sat(ice_add_sat(before, added), removed);
    if (before < 0)
        return;
    props_set(c->a, &s->summary, str_c(key), str_fmt(c->a, "%lld", (long long)before));
}

static size_t changed_partitions(Commit *c)
{
    Map seen = map_new(c->a);

    for vec_each(const IceFile, f, &c->ch->add_data)
        map_put(&seen, ice_partition_key(c->a, f->spec_id, f->partition, f->npartition), c);
    for vec_each(const IceFile, f, &c->ch->add_deletes)
        map_put(&seen, ice_partition_key(c->a, f->spec_id, f->partition, f->npartition), c);
    for vec_each(const IceEntry, e, &c->removed)
        map_put(&seen, ice_partition_key(c->a, e->file.spec_id, e->file.partition, e->file.npartition), c);
    return seen.n;
}

void ice_commit_summary(Commit *c, IceSnapshot *s)
{
    Tally add = { 0 }, del = { 0 };

    for vec_each(const IceFile, f, &c->ch->add_data)
        tally(&add, f);
    for vec_each(const IceFile, f, &c->ch->add_deletes)
        tally(&add, f);
    for vec_each(const IceEntry, e, &c->removed)
        tally(&del, &e->file);
    for vec_each(const KeyValue, kv, &c->ch->summary)
        props_set(c->a, &s->summary, kv->key, kv->value);
    put_tally(c, s, &add, &del);
    props_set(c->a, &s->summary, S("changed-partition-count"), str_fmt(c->a, "%zu", changed_partitions(c)));
    put_total(c, s, "total-records", add.records, del.records);
    put_total(c, s, "total-files-size", add.bytes, del.bytes);
    put_total(c, s, "total-data-files", add.data_files, del.data_files);
    put_total(c, s, "total-delete-files", add.delete_files, del.delete_files);
    put_total(c, s, "total-position-deletes", add.position_deletes, del.position_deletes);
    put_total(c, s, "total-equality-deletes", add.equality_deletes, del.equality_deletes);
}
