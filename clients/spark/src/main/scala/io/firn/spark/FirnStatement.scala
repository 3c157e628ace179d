// SPDX-License-Identifier: Apache-2.0
package io.firn.spark

import scala.collection.immutable.ArraySeq

/** A statement about materialized views: what it answers, and the name that says whose it is. */
private[spark] case class FirnStatement(kind: FirnStatement.Kind, name: Seq[String], only: String = "", pattern: Option[String] = None)

/** Reads as much of a statement as it takes to know whether it is firn's:
 *
 *   CREATE [OR REPLACE] [MANAGED] MATERIALIZED VIEW [IF NOT EXISTS] name …      REFRESH MATERIALIZED VIEW name …
 *   ALTER MATERIALIZED VIEW [IF EXISTS] name …      DROP MATERIALIZED VIEW [IF EXISTS] name      EXPLAIN [word] REFRESH MATERIALIZED VIEW name …
 *   SHOW [MATERIALIZED] VIEWS [IN|FROM name] [[LIKE] 'pattern']      DESC|DESCRIBE MATERIALIZED VIEW [EXTENDED] name */
private[spark] object FirnStatement {
  sealed trait Kind
  case object Plain extends Kind
  case class Rows(columns: Seq[String]) extends Kind
  case object Views extends Kind

  private val first = Set("CREATE", "REFRESH", "ALTER", "DROP", "SHOW", "DESC", "DESCRIBE", "EXPLAIN")

  /** Cheap: most statements are told by their first word. */
  def maybe(text: String): Boolean = new Words(text).next().exists(t => first(t.upper))

  def read(text: String): Option[FirnStatement] = {
    val w = new Words(text)
    if (w.take("CREATE")) { w.take("OR", "REPLACE"); w.take("MANAGED"); view(w, "IF", "NOT", "EXISTS")(Plain) }
    else if (w.take("REFRESH")) view(w)(Plain)
    else if (w.take("ALTER") || w.take("DROP")) view(w, "IF", "EXISTS")(Plain)
    else if (w.take("DESCRIBE") || w.take("DESC")) view(w, "EXTENDED")(Rows(Seq("col_name", "data_type", "comment")))
    else if (w.take("SHOW")) views(w)
    else if (w.take("EXPLAIN")) explain(w)
    else None
  }

  private def view(w: Words, between: String*)(kind: Kind): Option[FirnStatement] =
    if (!w.take("MATERIALIZED", "VIEW")) None
    else {
      w.take(between: _*)
      w.name().map(FirnStatement(kind, _))
    }

  private def explain(w: Words): Option[FirnStatement] = {
    Seq("EXTENDED", "FORMATTED", "CODEGEN", "COST", "LOGICAL").exists(k => w.take(k))
    if (w.take("REFRESH")) view(w)(Rows(Seq("plan"))) else None
  }

  private def views(w: Words): Option[FirnStatement] = {
    val only = if (w.take("MATERIALIZED")) "MATERIALIZED " else ""
    if (!w.take("VIEWS")) None
    else {
      val name = if (w.take("IN") || w.take("FROM")) w.name() else Some(Seq.empty[String])
      w.take("LIKE")
      val pattern = w.string()
      name.filter(_ => w.atEnd).map(FirnStatement(Views, _, only, pattern))
    }
  }

  /** The words of a statement; comments and blanks between them are skipped. */
  private final class Words(text: String) {
    private var at = 0

    def next(): Option[Word] = { skip(); wordAt(at) }

    def atEnd: Boolean = { skip(); while (at < text.length && text(at) == ';') { at += 1; skip() }; at >= text.length }

    def take(words: String*): Boolean = {
      val start = at
      val all = words.nonEmpty && words.forall(k => next().exists { t => if (t.upper == k) at = t.end; t.upper == k })
      if (!all) at = start
      all
    }

    /** a.`b c`.d */
    def name(): Option[Seq[String]] = {
      val parts = ArraySeq.newBuilder[String]
      var more = true
      while (more) part() match {
        case Some(p) => parts += p; skip(); more = at < text.length && text(at) == '.'; if (more) at += 1
        case None => return None
      }
      Some(parts.result())
    }

    private def part(): Option[String] = {
      skip()
      if (at < text.length && text(at) == '`') quoted('`').map { case (s, end) => at = end; s }
      else wordAt(at).map { t => at = t.end; t.text }
    }

    def string(): Option[String] = {
      skip()
      if (at >= text.length || (text(at) != '\'' && text(at) != '"')) None
      else quoted(text(at)).map { case (s, end) => at = end; s }
    }

    private def quoted(q: Char): Option[(String, Int)] = {
      val s = new StringBuilder
      var i = at + 1
      while (i < text.length) {
        if (text(i) == q && i + 1 < text.length && text(i + 1) == q && q == '`') { s += q; i += 2 }
        else if (text(i) == q) return Some((s.result(), i + 1))
        else if (text(i) == '\\' && q != '`' && i + 1 < text.length) { s += text(i + 1); i += 2 }
        else { s += text(i); i += 1 }
      }
      None
    }

    private def wordAt(from: Int): Option[Word] = {
      var i = from
      while (i < text.length && (text(i).isLetterOrDigit || text(i) == '_')) i += 1
      if (i > from) Some(Word(text.substring(from, i), i)) else None
    }

    private def skip(): Unit = {
      var start = -1
      while (start != at) {
        start = at
        while (at < text.length && text(at).isWhitespace) at += 1
        if (text.startsWith("--", at)) { val e = text.indexOf('\n', at); at = if (e < 0) text.length else e }
        else if (text.startsWith("/*", at)) comment()
      }
    }

    /** They nest, as Spark's do. */
    private def comment(): Unit = {
      var depth = 0
      do {
        if (text.startsWith("/*", at)) { depth += 1; at += 2 }
        else if (text.startsWith("*/", at)) { depth -= 1; at += 2 }
        else at += 1
      } while (depth > 0 && at < text.length)
    }
  }

  private case class Word(text: String, end: Int) { val upper: String = text.toUpperCase(java.util.Locale.ROOT) }
}
