// SPDX-License-Identifier: Apache-2.0
package io.firn.spark

import java.sql.SQLException

import org.apache.spark.{QueryContext, SparkException}
import org.apache.spark.sql.AnalysisException
import org.postgresql.util.PSQLException

/** A statement that firn refused: its words, its SQLSTATE. */
class FirnAnalysisException(message: String, state: String, cause: Option[Throwable])
    extends AnalysisException(message, None, None, cause, None, Map.empty[String, String], Array.empty[QueryContext], Some(state), None) {
  override def getSqlState: String = state
}

/** A statement that failed while it ran, or firn was not to be reached. */
class FirnException(message: String, state: String, cause: Throwable) extends SparkException(message, cause) {
  override def getSqlState: String = state
}

private[spark] object FirnErrors {
  /** "40001" and the like may pass when tried again; what is wrong with a statement itself does not. */
  private val atRunTime = Set("08", "40", "53", "54", "55", "57", "58", "XX")

  def analysis(message: String, state: String, cause: Option[Throwable] = None): Throwable = new FirnAnalysisException(withState(message, state), state, cause)

  def of(e: SQLException): Throwable = {
    val state = Option(e.getSQLState).getOrElse("XX000")
    val text = withState(textOf(e), state)
    if (text.contains("integrity check failed")) integrity(text)
    else if (atRunTime(state.take(2))) new FirnException(text, state, e)
    else new FirnAnalysisException(text, state, Some(e))
  }

  /** What Iceberg's own catalog on AWS throws for a view whose tokens disagree. */
  private def integrity(text: String): Throwable =
    try Class.forName("org.apache.iceberg.exceptions.ValidationException", true, Thread.currentThread.getContextClassLoader)
      .getConstructor(classOf[String], classOf[Array[Object]]).newInstance("%s", Array[Object](text)).asInstanceOf[Throwable]
    catch { case _: ReflectiveOperationException => new FirnException(text, "58030", null) }

  private def textOf(e: SQLException): String = e match {
    case p: PSQLException if p.getServerErrorMessage != null =>
      val m = p.getServerErrorMessage
      (Option(m.getMessage).toSeq ++ Option(m.getDetail).map("\n" + _) ++ Option(m.getHint).map("\n" + _)).mkString
    case _ => e.getMessage
  }

  private def withState(text: String, state: String): String = {
    if (text.contains("SQLSTATE")) text
    else text.split("\n", 2) match {
      case Array(first, rest) => s"$first SQLSTATE: $state\n$rest"
      case _ => s"$text SQLSTATE: $state"
    }
  }
}
