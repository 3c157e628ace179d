// SPDX-License-Identifier: Apache-2.0
package io.firn.bench;

import java.time.LocalDate;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DoubleType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;

/** The rows of bench/sinks.py's select_rows, made before the clock runs: the source gives out what lies in memory. */
final class Rows {
    private static final InternalTypeInfo<RowData> TYPE = InternalTypeInfo.of(RowType.of(
            new LogicalType[] {new BigIntType(false), new BigIntType(), new DoubleType(), new VarCharType(VarCharType.MAX_LENGTH), new DateType()}, new String[] {"id", "k", "x", "s", "d"}));
    private static final int START = (int) LocalDate.of(2026, 1, 1).toEpochDay();

    private static RowData[] made = {};                     // of this process: source and cluster live in it

    private Rows() {}

    static void fill(int n, double add) {
        RowData[] rows = new RowData[n];
        for (int i = 0; i < n; i++) {
            long g = i + 1;
            rows[i] = GenericRowData.of(g, g % 1000, g * 0.5 + add, StringData.fromBytes(("row number " + g).getBytes(java.nio.charset.StandardCharsets.UTF_8)), START + (int) (g % 365));
        }
        made = rows;
    }

    private static RowData at(Long index) {
        if (FlinkPeer.FIRST.get() == 0) {
            FlinkPeer.FIRST.compareAndSet(0, System.nanoTime());
        }
        return made[index.intValue()];
    }

    static DataStream<RowData> stream(StreamExecutionEnvironment env, int n) {
        return env.fromSource(new DataGeneratorSource<>(Rows::at, n, TYPE), WatermarkStrategy.noWatermarks(), "rows", TYPE);
    }
}
