// SPDX-License-Identifier: Apache-2.0
package io.firn.spark

import org.apache.spark.sql.SparkSessionExtensions

/** spark.sql.extensions = org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions,io.firn.spark.FirnSparkSessionExtensions
 *
 * The statements of materialized views go to firn (FirnParser).  Plans that name a materialized view of firn's are answered, refused or
 * let through by what firn says of it (FirnRules).  Everything else is left as it is. */
class FirnSparkSessionExtensions extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectParser((session, delegate) => new FirnParser(session, delegate))
    extensions.injectHintResolutionRule(session => new FirnRules(session))
  }
}
