// SPDX-License-Identifier: Apache-2.0
package io.firn.bench;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.SupportsNamespaces;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.flink.CatalogLoader;
import org.apache.iceberg.flink.TableLoader;
import org.apache.iceberg.flink.sink.IcebergSink;
import org.apache.iceberg.types.Types;

/**
 * Rows from memory into an Iceberg table by Flink's Iceberg sink: what bench/sinks.py compares firn's sinks with.
 *
 * <p>A local cluster, parallelism 2, everything else as it ships.  One job a round, each into a table of its own; the first warms the JVM up and does not count.  Time runs from the first row
 * that the source gives out to the snapshot that has them all, as a reader of the table sees it: neither the cluster's start nor its end is in it.  The checkpoint interval is longer than
 * a round, so the end of the input makes the one commit, as firn makes one.
 *
 * <p>Arguments: catalog uri, credential, warehouse, namespace, rows, append or upsert, rounds.  A line for each round: "round TABLE SECONDS SNAPSHOTS".
 */
public final class FlinkPeer {
    static final AtomicLong FIRST = new AtomicLong();       // nanoTime of a round's first row; 0: none yet

    private static final int PARALLELISM = 2;
    private static final Duration INTERVAL = Duration.ofMinutes(10);
    private static final Duration LONGEST = Duration.ofMinutes(10);
    private static final Schema SCHEMA = new Schema(
            Types.NestedField.required(1, "id", Types.LongType.get()),
            Types.NestedField.optional(2, "k", Types.LongType.get()),
            Types.NestedField.optional(3, "x", Types.DoubleType.get()),
            Types.NestedField.optional(4, "s", Types.StringType.get()),
            Types.NestedField.optional(5, "d", Types.DateType.get()));

    private final CatalogLoader loader;
    private final Catalog catalog;
    private final Namespace namespace;
    private final int rows;

    private FlinkPeer(String uri, String credential, String warehouse, String namespace, int rows) {
        Map<String, String> props = new HashMap<>();
        props.put("uri", uri);
        props.put("credential", credential);
        props.put("warehouse", warehouse);
        props.put("io-impl", "org.apache.iceberg.aws.s3.S3FileIO");
        props.put("client.region", "us-east-1");
        props.put("s3.path-style-access", "true");
        props.put("header.X-Iceberg-Access-Delegation", "vended-credentials");
        this.loader = CatalogLoader.rest("bench", new org.apache.hadoop.conf.Configuration(false), props);
        this.catalog = loader.loadCatalog();
        this.namespace = Namespace.of(namespace);
        this.rows = rows;
    }

    public static void main(String[] args) throws Exception {
        FlinkPeer peer = new FlinkPeer(args[0], args[1], args[2], args[3], Integer.parseInt(args[4]));
        boolean upsert = args[5].equals("upsert");
        int rounds = Integer.parseInt(args[6]);

        peer.makeNamespace();
        for (int i = 0; i <= rounds; i++) {
            String line = peer.round("flink_" + args[5] + "_" + i, upsert);
            if (i > 0) {
                System.out.println("round " + line);
            }
        }
        System.exit(0);                                     // threads of the cloud client may still live
    }

    private void makeNamespace() {
        SupportsNamespaces spaces = (SupportsNamespaces) catalog;
        if (!spaces.namespaceExists(namespace)) {
            spaces.createNamespace(namespace);
        }
    }

    private String round(String name, boolean upsert) throws Exception {
        TableIdentifier id = TableIdentifier.of(namespace, name);
        Table table = catalog.createTable(id, SCHEMA, null, Map.of("format-version", "2"));
        if (upsert) {
            write(table, id, 0, false);                     // what is there before; not measured
        }
        int before = snapshots(table);
        double seconds = write(table, id, upsert ? 1 : 0, upsert);
        return name + " " + seconds + " " + (snapshots(table) - before);
    }

    private static int snapshots(Table table) {
        int n = 0;
        table.refresh();
        for (Snapshot ignored : table.snapshots()) {
            n++;
        }
        return n;
    }

    /** One job; the seconds that count. */
    private double write(Table table, TableIdentifier id, double add, boolean upsert) throws Exception {
        long expected = total(table) + rows;
        Rows.fill(rows, add);
        System.gc();
        FIRST.set(0);
        StreamExecutionEnvironment env = environment();
        DataStream<RowData> source = Rows.stream(env, rows);
        IcebergSink.Builder sink = IcebergSink.forRowData(source).table(table).tableLoader(TableLoader.fromCatalog(loader, id));
        if (upsert) {
            sink.equalityFieldColumns(List.of("id")).upsert(true);
        }
        sink.append();
        var job = env.executeAsync(id.name());
        double seconds = watch(id, expected);
        job.getJobExecutionResult().get();
        env.close();
        return seconds;
    }

    private static StreamExecutionEnvironment environment() {
        Configuration conf = new Configuration();
        conf.set(CoreOptions.DEFAULT_PARALLELISM, PARALLELISM);
        conf.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, INTERVAL);
        return StreamExecutionEnvironment.createLocalEnvironment(PARALLELISM, conf);
    }

    /** Until a reader sees all the rows. */
    private double watch(TableIdentifier id, long expected) throws InterruptedException {
        Table seen = catalog.loadTable(id);
        long begun = System.nanoTime();

        while (total(seen) < expected) {
            if (System.nanoTime() - begun > LONGEST.toNanos()) {
                throw new IllegalStateException("the table has " + total(seen) + " of " + expected + " rows");
            }
            Thread.sleep(20);                               // reading the table costs more than it is worth to look oftener
            seen.refresh();
        }
        return (System.nanoTime() - FIRST.get()) / 1e9;
    }

    private static long total(Table table) {
        Snapshot s = table.currentSnapshot();
        return s == null ? 0 : Long.parseLong(s.summary().get("total-records"));
    }
}
