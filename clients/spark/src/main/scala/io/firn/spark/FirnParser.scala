// SPDX-License-Identifier: Apache-2.0
package io.firn.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.{NamedParameterContext, ParameterContext, ParserInterface, PositionalParameterContext}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.internal.VariableSubstitution
import org.apache.spark.sql.types.{DataType, StructType}

/** Takes out the statements of materialized views that are about firn's catalogs; their text goes to firn whole, where it is parsed.
 * All else goes to the parser that was there before. */
private[spark] class FirnParser(session: SparkSession, delegate: ParserInterface) extends ParserInterface {
  private lazy val classic = session.asInstanceOf[ClassicSession]

  override def parsePlan(text: String): LogicalPlan = ours(text).getOrElse(delegate.parsePlan(text))

  override def parsePlanWithParameters(text: String, parameters: ParameterContext): LogicalPlan = ours(text) match {
    case Some(plan) if isEmpty(parameters) => plan
    case Some(_) => throw FirnErrors.analysis("[UNSUPPORTED_FEATURE] Statements of materialized views take no parameters: write the values into the text.", "0A000")
    case None => delegate.parsePlanWithParameters(text, parameters)
  }

  private def isEmpty(parameters: ParameterContext): Boolean = parameters match {
    case NamedParameterContext(values) => values.isEmpty
    case PositionalParameterContext(values) => values.isEmpty
  }

  private def ours(text: String): Option[LogicalPlan] =
    if (!FirnStatement.maybe(text)) None
    else {
      val sql = new VariableSubstitution().substitute(text)
      FirnStatement.read(sql).flatMap(plan(_, sql))
    }

  private def plan(s: FirnStatement, sql: String): Option[LogicalPlan] = {
    val catalogs = new FirnCatalogs(classic)
    s.kind match {
      case FirnStatement.Views => catalogs.namespace(s.name).map(n => FirnShowViews(n, s.only, s.pattern))
      case FirnStatement.Rows(columns) => catalogs.table(s.name).map(_ => FirnCommand(sql, FirnCommand.strings(columns: _*)))
      case FirnStatement.Plain => catalogs.table(s.name).map(_ => FirnCommand(sql, Nil))
    }
  }

  override def parseQuery(text: String): LogicalPlan = delegate.parseQuery(text)
  override def parseExpression(text: String): Expression = delegate.parseExpression(text)
  override def parseTableIdentifier(text: String): TableIdentifier = delegate.parseTableIdentifier(text)
  override def parseFunctionIdentifier(text: String): FunctionIdentifier = delegate.parseFunctionIdentifier(text)
  override def parseMultipartIdentifier(text: String): Seq[String] = delegate.parseMultipartIdentifier(text)
  override def parseRoutineParam(text: String): StructType = delegate.parseRoutineParam(text)
  override def parseTableSchema(text: String): StructType = delegate.parseTableSchema(text)
  override def parseDataType(text: String): DataType = delegate.parseDataType(text)
}
