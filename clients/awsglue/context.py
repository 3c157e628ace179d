# SPDX-License-Identifier: Apache-2.0
"""GlueContext: a Spark session that reads and writes by catalog name, with dynamic frames on top."""
import logging

from pyspark.context import SparkContext
from pyspark.sql import SparkSession

from awsglue.dynamicframe import DynamicFrame


class GlueContext:
    def __init__(self, sparkContext=None, **options):
        self._sc = sparkContext or SparkContext.getOrCreate()
        self.spark_session = SparkSession.builder.getOrCreate()
        self.create_dynamic_frame = _FrameReader(self)
        self.write_dynamic_frame = _FrameWriter(self)

    @property
    def spark_context(self):
        return self._sc

    def __getattr__(self, name):                    # what a SQLContext had: sql, table, read, createDataFrame …
        return getattr(self.spark_session, name)

    def get_logger(self):
        return logging.getLogger("GlueLogger")

    def create_data_frame_from_catalog(self, database, table_name, transformation_ctx="", additional_options=None, catalog_id=None, **more):
        return self.spark_session.table(self._name(database, table_name, additional_options))

    def write_data_frame_from_catalog(self, frame, database, table_name, transformation_ctx="", additional_options=None, catalog_id=None, **more):
        frame.writeTo(self._name(database, table_name, additional_options)).append()
        return frame

    def create_dynamic_frame_from_catalog(self, database, table_name, transformation_ctx="", additional_options=None, **more):
        return DynamicFrame(self.create_data_frame_from_catalog(database, table_name, additional_options=additional_options), self, table_name)

    def _name(self, database, table, options):
        catalog = (options or {}).get("catalog") or self.spark_session.conf.get("spark.sql.defaultCatalog", "spark_catalog")
        return f"`{catalog}`.`{database}`.`{table}`"


class _FrameReader:
    def __init__(self, context):
        self._context = context

    def from_catalog(self, database, table_name, transformation_ctx="", additional_options=None, **more):
        return self._context.create_dynamic_frame_from_catalog(database, table_name, additional_options=additional_options)

    def from_rdd(self, data, name, schema=None, **more):
        return DynamicFrame(self._context.spark_session.createDataFrame(data, schema), self._context, name)

    def from_options(self, connection_type, connection_options=None, format=None, **more):
        raise NotImplementedError(f"create_dynamic_frame.from_options(connection_type={connection_type!r}) is not supported here: read by catalog name (from_catalog), or with spark.read")


class _FrameWriter:
    def __init__(self, context):
        self._context = context

    def from_catalog(self, frame, database, table_name, transformation_ctx="", additional_options=None, **more):
        self._context.write_data_frame_from_catalog(frame.toDF(), database, table_name, additional_options=additional_options)
        return frame

    def from_options(self, frame, connection_type, connection_options=None, format=None, **more):
        raise NotImplementedError(f"write_dynamic_frame.from_options(connection_type={connection_type!r}) is not supported here: write by catalog name (from_catalog), or with frame.toDF().write")
