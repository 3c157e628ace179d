/* SPDX-License-Identifier: Apache-2.0 */
/* manage_sinks.c - what each sink has done and how far behind it is: Materialize's metric names where it has one, ours for the rest. */
#include "door/manage/manage_int.h"
#include "service/objects.h"
#include "sink/sink.h"

typedef VEC(SinkReport) Reports;

static double seconds(int64_t us) { return (double)us / 1e6; }

static double conflicts(const SinkReport *r) { return (double)r->conflicts; }
static double failures(const SinkReport *r) { return (double)r->failures; }
static double snapshots(const SinkReport *r) { return (double)r->snapshots; }
static double data_files(const SinkReport *r) { return (double)r->data_files; }
static double delete_files(const SinkReport *r) { return (double)r->delete_files; }
static double backlog(const SinkReport *r) { return (double)r->backlog_rows; }
static double commit_sum(const SinkReport *r) { return seconds(r->commit_us); }
static double write_sum(const SinkReport *r) { return seconds(r->write_us); }
static double last_commit(const SinkReport *r) { return seconds(r->last_commit_us); }
static double oldest(const SinkReport *r) { return r->oldest_ms ? (double)max_i64(0, clock_ms() - r->oldest_ms) / 1000 : 0; }
static double frontier(const SinkReport *r) { return (double)r->frontier / 1000; }
static double messages(const SinkReport *r) { return (double)r->messages_committed; }
static double bytes(const SinkReport *r) { return (double)r->bytes_committed; }

typedef struct SinkMetric { const char *name, *type, *help; double (*of)(const SinkReport *r); } SinkMetric;

static const SinkMetric METRICS[] = {
    { "mz_sink_iceberg_commit_duration_seconds_sum", "counter", "Time spent in commits.", commit_sum },
    { "mz_sink_iceberg_commit_duration_seconds_count", "counter", "Commits.", snapshots },
    { "mz_sink_iceberg_writer_close_duration_seconds_sum", "counter", "Time spent in writing files.", write_sum },
    { "mz_sink_iceberg_writer_close_duration_seconds_count", "counter", "Batches written.", snapshots },
    { "mz_sink_iceberg_commit_conflicts", "counter", "Commits that lost a race.", conflicts },
    { "mz_sink_iceberg_commit_failures", "counter", "Commits that failed, or whose answer was lost.", failures },
    { "mz_sink_iceberg_snapshots_committed", "counter", "Snapshots committed.", snapshots },
    { "mz_sink_iceberg_data_files_written", "counter", "Data files committed.", data_files },
    { "mz_sink_iceberg_delete_files_written", "counter", "Delete files committed.", delete_files },
    { "mz_sink_iceberg_stashed_rows", "gauge", "Changes that wait for a commit.", backlog },
    { "firn_sink_messages_committed_total", "counter", "Rows that came and went by commits.", messages },
    { "firn_sink_bytes_committed_total", "counter", "Bytes of the files committed.", bytes },
    { "firn_sink_oldest_uncommitted_seconds", "gauge", "Age of the oldest change that waits for a commit.", oldest },
    { "firn_sink_last_commit_seconds", "gauge", "How long the last commit took.", last_commit },
    { "firn_sink_frontier_seconds", "gauge", "All changes before this time are in the table (seconds since 1970).", frontier },
};

static void reports(Service *s, Arena *a, Reports *ret)
{
    ObjectVec all = {0};
    SinkReport r;

    objects_list(s->objects, a, &all);
    for vec_each(const Object, o, &all)
        if (o->kind == OBJ_SINK && s->sinks && sink_report(s->sinks, o->id, &r))
            vec_push(a, ret, r);
}

void manage_sink_metrics(Service *s, Arena *a, StrBuf *b)
{
    Reports all = {0};

    reports(s, a, &all);
    for (size_t i = 0; i < COUNT_OF(METRICS) && all.n; i++) {
        const SinkMetric *m = &METRICS[i];
        sb_fmt(b, "# HELP %s %s\n# TYPE %s %s\n", m->name, m->help, m->name, m->type);
        for vec_each(const SinkReport, r, &all)
            sb_fmt(b, "%s{sink_id=\"u%lld\"} %.17g\n", m->name, (long long)r->id, m->of(r));
    }
}
