// SPDX-License-Identifier: Apache-2.0
package io.firn.spark

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.{BooleanType, StringType}

/** A statement that firn runs; its answer has these columns, all text. */
private[spark] case class FirnCommand(sql: String, override val output: Seq[Attribute]) extends LeafRunnableCommand {
  override def run(session: SparkSession): Seq[Row] = {
    val rows = FirnClient.of(session.asInstanceOf[ClassicSession]).run(sql)
    if (output.isEmpty) Nil else rows.map(r => Row.fromSeq(r.take(output.size)))
  }
  override def simpleString(maxFields: Int): String = s"FirnCommand ${sql.take(200)}"
}

private[spark] object FirnCommand {
  def strings(names: String*): Seq[Attribute] = names.map(n => AttributeReference(n, StringType, nullable = true)())
}

/** SHOW [MATERIALIZED] VIEWS: firn's with their staleness, then the session's temporary ones, as Spark does. */
private[spark] case class FirnShowViews(
    namespace: FirnName,
    only: String,
    pattern: Option[String],
    override val output: Seq[Attribute] = Seq(AttributeReference("namespace", StringType, nullable = false)(), AttributeReference("viewName", StringType, nullable = false)(),
      AttributeReference("isTemporary", BooleanType, nullable = false)(), AttributeReference("stalenessStatus", StringType, nullable = true)())) extends LeafRunnableCommand {
  override def run(session: SparkSession): Seq[Row] = {
    val classic = session.asInstanceOf[ClassicSession]
    val like = pattern.map(p => " LIKE " + FirnCatalogs.literal(p)).getOrElse("")
    val theirs = FirnClient.of(classic).run(s"SHOW ${only}VIEWS IN ${namespace.sql}$like").map(r => Row(r(0), r(1), r(2) == "t", r(3)))
    val temporary = if (only.nonEmpty) Nil else classic.sessionState.catalog.listLocalTempViews(pattern.getOrElse("*")).map(v => Row("", v.table, true, null))
    theirs ++ temporary
  }
}
