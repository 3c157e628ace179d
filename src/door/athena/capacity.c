/* SPDX-License-Identifier: Apache-2.0 */
/* capacity.c - capacity reservations and engine versions: records, for clients that manage them.
 *
 * One machine runs all queries in one pool; a reservation is kept and shown, and reserves nothing. */
#include "door/athena/athena_int.h"

static Status capacity_get(AwsCall *c, const char *member, Json **ret, Error *err)
{
    Str name = aws_str(c, member);

    TRY(ath_allow(c, "capacity-reservation", name, err));
    TRY(rec_get(ath_service(c), c->a, K_CAPACITY, name, ret, err));
    if (!*ret)
        return ATH_INVALID(err, "INVALID_INPUT", "Capacity reservation does not exist");
    return OK;
}

static void capacity_target(Arena *a, Json *r, int64_t dpus)
{
    int64_t now = clock_ms();

    json_set(a, r, "TargetDpus", json_int(a, dpus));
    json_set(a, r, "AllocatedDpus", json_int(a, dpus));
    json_set(a, r, "AllocatedMs", json_int(a, now));
}

Status ath_CreateCapacityReservation(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "Name");
    Json *r = json_object(c->a), *tags = json_object(c->a), *old;

    TRY(ath_allow(c, "capacity-reservation", name, err));
    if (!ath_name_ok(name, "._-"))
        return ATH_INVALID(err, "INVALID_INPUT", "Capacity reservation name must match [a-zA-Z0-9._-]{1,128}");
    TRY(rec_tags(c, aws_get(c, "Tags"), tags, err));
    TRY(rec_get(ath_service(c), c->a, K_CAPACITY, name, &old, err));
    if (old)
        return ATH_INVALID(err, "INVALID_INPUT", "Capacity reservation already exists");
    TRY(rec_count_below(c, K_CAPACITY, err));
    json_set(c->a, r, "Name", json_str(c->a, name));
    json_set(c->a, r, "Status", json_str(c->a, S("ACTIVE")));
    json_set(c->a, r, "CreationMs", json_int(c->a, clock_ms()));
    capacity_target(c->a, r, aws_int(c, "TargetDpus", 0));
    json_set(c->a, r, "Tags", tags);
    return rec_put(ath_service(c), K_CAPACITY, name, r, err);
}

static Json *capacity_shape(AwsCall *c, const Json *r)
{
    static const char *const members[] = { "Name", "Status", "TargetDpus", "AllocatedDpus" };
    Json *v = json_object(c->a), *last = json_object(c->a), *when = aws_time(c, json_get_int(r, "AllocatedMs", 0));

    rec_copy_members(c->a, v, r, members, COUNT_OF(members));
    json_set(c->a, last, "Status", json_str(c->a, S("SUCCEEDED")));
    json_set(c->a, last, "RequestTime", when);
    json_set(c->a, last, "RequestCompletionTime", when);
    json_set(c->a, v, "LastAllocation", last);
    json_set(c->a, v, "LastSuccessfulAllocationTime", when);
    json_set(c->a, v, "CreationTime", aws_time(c, json_get_int(r, "CreationMs", 0)));
    return v;
}

Status ath_GetCapacityReservation(AwsCall *c, Error *err)
{
    Json *r;

    TRY(capacity_get(c, "Name", &r, err));
    aws_put(c, "CapacityReservation", capacity_shape(c, r));
    return OK;
}

Status ath_ListCapacityReservations(AwsCall *c, Error *err)
{
    Json *list = json_array(c->a);
    CatDocs docs;

    TRY(ath_allow(c, "capacity-reservation", S("*"), err));
    TRY(cat_doc_list(ath_service(c)->catalog, c->a, S(K_CAPACITY), (Str){0}, &docs, err));
    for vec_each(CatDoc, d, &docs)
        json_push(c->a, list, capacity_shape(c, d->value));
    return aws_page(c, "CapacityReservations", list, "NextToken", "MaxResults", 50, "NextToken", err);
}

Status ath_UpdateCapacityReservation(AwsCall *c, Error *err)
{
    Json *r;

    TRY(capacity_get(c, "Name", &r, err));
    if (str_eq(json_get_str(r, "Status", (Str){0}), S("CANCELLED")))
        return ATH_INVALID(err, "INVALID_INPUT", "A cancelled capacity reservation cannot be changed");
    capacity_target(c->a, r, aws_int(c, "TargetDpus", 0));
    return rec_put(ath_service(c), K_CAPACITY, aws_str(c, "Name"), r, err);
}

Status ath_CancelCapacityReservation(AwsCall *c, Error *err)
{
    Json *r;

    TRY(capacity_get(c, "Name", &r, err));
    json_set(c->a, r, "Status", json_str(c->a, S("CANCELLED")));
    json_set(c->a, r, "AllocatedDpus", json_int(c->a, 0));
    return rec_put(ath_service(c), K_CAPACITY, aws_str(c, "Name"), r, err);
}

Status ath_DeleteCapacityReservation(AwsCall *c, Error *err)
{
    Str name = aws_str(c, "Name");
    CatChange changes[] = { { .kind = CH_DOC, .doc_kind = S(K_CAPACITY), .doc_key = name }, { .kind = CH_DOC, .doc_kind = S(K_ASSIGN), .doc_key = name } };
    Json *r;

    TRY(capacity_get(c, "Name", &r, err));
    if (!str_eq(json_get_str(r, "Status", (Str){0}), S("CANCELLED")))
        return ATH_INVALID(err, "INVALID_INPUT", "A capacity reservation must be cancelled before it is deleted");
    return cat_commit(ath_service(c)->catalog, changes, COUNT_OF(changes), err);
}

Status ath_PutCapacityAssignmentConfiguration(AwsCall *c, Error *err)
{
    static const char *const members[] = { "CapacityReservationName", "CapacityAssignments" };
    Json *r, *v = json_object(c->a);

    TRY(capacity_get(c, "CapacityReservationName", &r, err));
    rec_copy_members(c->a, v, c->in, members, COUNT_OF(members));
    return rec_put(ath_service(c), K_ASSIGN, aws_str(c, "CapacityReservationName"), v, err);
}

Status ath_GetCapacityAssignmentConfiguration(AwsCall *c, Error *err)
{
    Json *r, *v;

    TRY(capacity_get(c, "CapacityReservationName", &r, err));
    TRY(rec_get(ath_service(c), c->a, K_ASSIGN, aws_str(c, "CapacityReservationName"), &v, err));
    if (!v)
        return ATH_INVALID(err, "INVALID_INPUT", "Capacity assignment configuration does not exist");
    aws_put(c, "CapacityAssignmentConfiguration", v);
    return OK;
}

Status ath_ListEngineVersions(AwsCall *c, Error *err)
{
    static const char *const names[] = { "AUTO", ATH_ENGINE };
    Json *list = json_array(c->a);

    TRY(aws_allow(c, "athena:ListEngineVersions", S("*"), NULL, err));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        Json *v = json_object(c->a);
        json_set(c->a, v, "SelectedEngineVersion", json_str(c->a, str_c(names[i])));
        json_set(c->a, v, "EffectiveEngineVersion", json_str(c->a, S(ATH_ENGINE)));
        json_push(c->a, list, v);
    }
    return aws_page(c, "EngineVersions", list, "NextToken", "MaxResults", 10, "NextToken", err);
}
