// SPDX-License-Identifier: Apache-2.0
package io.firn.spark

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

/** What Spark's own statements do with a materialized view of firn's.
 *
 * Runs before names are resolved.  One question to firn for each relation that is in a catalog of firn's; what is no materialized view is left alone.
 *   1. DESCRIBE, SHOW TBLPROPERTIES are answered by firn, SET and UNSET TBLPROPERTIES and COMMENT ON are done by it.
 *   2. A write to a managed view is refused before a task starts.  firn's doors refuse it too; this is the short way to the same reason.
 *   3. A view that must not be read (its tokens or its files do not match) fails with that reason, not with what a reader stumbles over. */
private[spark] class FirnRules(session: SparkSession) extends Rule[LogicalPlan] {
  private lazy val classic = session.asInstanceOf[ClassicSession]
  private lazy val catalogs = new FirnCatalogs(classic)

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.analyzed || FirnClient.address(classic).isEmpty) plan
    else {
      plan.foreachWithSubqueries(check)
      plan.transform(answered)
    }

  // ---- what firn answers ----

  private def answered: PartialFunction[LogicalPlan, LogicalPlan] = {
    case p @ DescribeRelation(UnresolvedTableOrView(parts, _, _), spec, extended, output) if spec.isEmpty =>
      replaced(p, parts)(v => FirnCommand(s"DESCRIBE ${if (extended) "EXTENDED " else ""}${v.name.sql}", output))
    case p @ ShowTableProperties(UnresolvedTableOrView(parts, _, _), key, output) =>
      replaced(p, parts)(v => FirnCommand(s"SHOW TBLPROPERTIES ${v.name.sql}" + key.map(k => s" (${FirnCatalogs.literal(k)})").getOrElse(""), output))
    case p @ SetTableProperties(UnresolvedTable(parts, _, _), properties) =>
      replaced(p, parts)(set(_, properties))
    case p @ CommentOnTable(UnresolvedTable(parts, _, _), comment) =>
      replaced(p, parts)(set(_, Map("comment" -> comment)))
    case p @ UnsetTableProperties(UnresolvedTable(parts, _, _), keys, ifExists) =>
      replaced(p, parts)(v => FirnCommand(s"ALTER TABLE ${v.name.sql} UNSET TBLPROPERTIES ${if (ifExists) "IF EXISTS " else ""}(" + keys.map(FirnCatalogs.literal).mkString(", ") + ")", Nil))
  }

  private def set(v: FirnView, properties: Map[String, String]): LogicalPlan = FirnCommand(s"ALTER TABLE ${v.name.sql} SET TBLPROPERTIES (" + pairs(properties) + ")", Nil)

  private def pairs(properties: Map[String, String]): String =
    properties.toSeq.sorted.map { case (k, v) => s"${FirnCatalogs.literal(k)} = ${FirnCatalogs.literal(v)}" }.mkString(", ")

  private def replaced(plan: LogicalPlan, parts: Seq[String])(by: FirnView => LogicalPlan): LogicalPlan = view(parts).map(by).getOrElse(plan)

  // ---- what is refused ----

  private def check(plan: LogicalPlan): Unit = plan match {
    case p: InsertIntoStatement => refuse(p.table, "INSERT INTO")
    case p: V2WriteCommand => refuse(p.table, if (p.isInstanceOf[AppendData]) "INSERT INTO" else "INSERT OVERWRITE")
    case p: DeleteFromTable => refuse(p.table, "DELETE from")
    case p: UpdateTable => refuse(p.table, "UPDATE")
    case p: MergeIntoTable => refuse(p.targetTable, "MERGE INTO")
    case p: TruncateTable => refuse(p.table, "TRUNCATE")
    case _: SetTableProperties | _: UnsetTableProperties | _: CommentOnTable =>
    case p: AlterTableCommand => change(p)
    case p: UnresolvedRelation if !isTarget(p) => read(p)
    case _ =>
  }

  private def target(plan: LogicalPlan): Option[Seq[String]] = plan match {
    case SubqueryAlias(_, child) => target(child)
    case r: UnresolvedRelation => Some(r.multipartIdentifier)
    case UnresolvedTable(parts, _, _) => Some(parts)
    case r: DataSourceV2Relation => for (c <- r.catalog; i <- r.identifier) yield c.name +: i.namespace.toSeq :+ i.name
    case _ => None
  }

  private def refuse(table: LogicalPlan, verb: String): Unit =
    for (parts <- target(table); v <- view(parts) if v.managed) throw FirnErrors.analysis(v.refusal(verb), "42501")

  /** As AWS's Spark has it, and the reason behind it. */
  private def change(p: AlterTableCommand): Unit =
    for (parts <- target(p.table); v <- view(parts) if v.managed) {
      val what = Try(p.changes.head.getClass.getName).getOrElse(p.getClass.getName)
      throw FirnErrors.analysis(s"Cannot apply unsupported change to managed materialized view: $what: ${v.refusal("ALTER TABLE")}", "42501")
    }

  /** INSERT's target is asked for as one that is written. */
  private def isTarget(r: UnresolvedRelation): Boolean = r.options.containsKey(UnresolvedRelation.REQUIRED_WRITE_PRIVILEGES)

  private def read(r: UnresolvedRelation): Unit =
    for (v <- view(r.multipartIdentifier))
      try FirnClient.of(classic).run(s"SELECT 1 FROM ${v.name.sql} LIMIT 0")
      catch {
        case e: FirnException if e.getSqlState != "58030" =>             // not to be reached, or too busy: the catalog says what it says
        case _: FirnAnalysisException =>                                  // rights are judged where Spark reads
      }

  // ---- what firn says of a relation ----

  private case class FirnView(name: FirnName, managed: Boolean) {
    def refusal(verb: String): String =
      s"Cannot $verb ${name.rest.mkString(".")}: it is a system-managed materialized view; only firn's own refresh writes it\n" +
        "Use REFRESH MATERIALIZED VIEW, or DROP MATERIALIZED VIEW and create it again."
  }

  private def view(parts: Seq[String]): Option[FirnView] =
    for {
      name <- catalogs.table(parts)
      rows <- FirnClient.of(classic).ask(s"SHOW TBLPROPERTIES ${name.sql}")
      properties = rows.collect { case Seq(k, v) => k -> v }.toMap
      if properties.get("isMaterializedView").contains("true")
    } yield FirnView(name, properties.get("isManaged").contains("true"))
}
