# SPDX-License-Identifier: Apache-2.0
"""DynamicFrame: a data frame with the methods that scripts use most. Its schema is fixed: there are no choice types to resolve."""


class DynamicFrame:
    def __init__(self, df, glue_ctx, name=""):
        self._df, self.glue_ctx, self.name = df, glue_ctx, name

    @classmethod
    def fromDF(cls, dataframe, glue_ctx, name):
        return cls(dataframe, glue_ctx, name)

    def toDF(self, options=None):
        return self._df

    def _of(self, df):
        return DynamicFrame(df, self.glue_ctx, self.name)

    def count(self):
        return self._df.count()

    def schema(self):
        return self._df.schema

    def printSchema(self):
        self._df.printSchema()

    def show(self, num_rows=20):
        self._df.show(num_rows)

    def select_fields(self, paths, **more):
        return self._of(self._df.select(*paths))

    def drop_fields(self, paths, **more):
        return self._of(self._df.drop(*paths))

    def rename_field(self, oldName, newName, **more):
        return self._of(self._df.withColumnRenamed(oldName, newName))

    def apply_mapping(self, mappings, **more):
        from pyspark.sql.functions import col
        return self._of(self._df.select(*[col(m[0]).cast(m[3] if len(m) == 4 else m[2]).alias(m[2] if len(m) == 4 else m[1]) for m in mappings]))

    def filter(self, f, **more):
        spark = self.glue_ctx.spark_session
        return self._of(spark.createDataFrame(self._df.rdd.filter(f), self._df.schema))

    def join(self, paths1, paths2, frame2, **more):
        other = frame2.toDF()
        condition = None
        for a, b in zip(paths1, paths2):
            equal = self._df[a] == other[b]
            condition = equal if condition is None else condition & equal
        return self._of(self._df.join(other, condition))

    def repartition(self, num_partitions, **more):
        return self._of(self._df.repartition(num_partitions))

    def coalesce(self, num_partitions, **more):
        return self._of(self._df.coalesce(num_partitions))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotImplementedError(f"DynamicFrame.{name} is not supported here: use toDF() and Spark's own")
