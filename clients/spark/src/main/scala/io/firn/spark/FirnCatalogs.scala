// SPDX-License-Identifier: Apache-2.0
package io.firn.spark

import java.net.URI

import scala.util.Try

import org.apache.spark.sql.classic.SparkSession

/** A name as Spark resolves it: the catalog it belongs to, and the rest. */
private[spark] case class FirnName(catalog: String, rest: Seq[String]) {
  def sql: String = (catalog +: rest).map(FirnCatalogs.quoted).mkString(".")
}

/** Which of the session's catalogs are firn's, and what they are called there.
 *
 * A catalog is firn's when `spark.sql.catalog.<c>.firn` says so; else when it is Iceberg's and of type glue, or of S3 Tables' own class, or a REST catalog at the host of
 * firn's doors under /iceberg. */
private[spark] class FirnCatalogs(session: SparkSession) {
  private def conf(key: String): Option[String] = Option(session.sessionState.conf.getConfString(key, null)).map(_.trim).filter(_.nonEmpty)
  private def of(catalog: String, key: String): Option[String] = conf(s"spark.sql.catalog.$catalog.$key")

  /** firn's name of the catalog: what Glue calls CatalogId, or a table bucket's ARN. None: not firn's. */
  def id(catalog: String): Option[String] = {
    val isIceberg = conf(s"spark.sql.catalog.$catalog").exists(_.startsWith("org.apache.iceberg.spark."))
    if (!isIceberg || of(catalog, "firn").contains("false")) None
    else if (isGlue(catalog)) of(catalog, "glue.id").orElse(of(catalog, "glue.account-id")).orElse(Some(""))
    else if (isS3Tables(catalog)) of(catalog, "warehouse")
    else if (of(catalog, "firn").contains("true") || isOurRest(catalog)) of(catalog, "warehouse").orElse(Some(""))
    else None
  }

  private def isGlue(catalog: String): Boolean =
    of(catalog, "type").exists(_.equalsIgnoreCase("glue")) || of(catalog, "catalog-impl").contains("org.apache.iceberg.aws.glue.GlueCatalog")

  private def isS3Tables(catalog: String): Boolean = of(catalog, "catalog-impl").exists(_.startsWith("software.amazon.s3tables."))

  private def isOurRest(catalog: String): Boolean =
    of(catalog, "type").exists(_.equalsIgnoreCase("rest")) && of(catalog, "uri").flatMap(u => Try(new URI(u)).toOption).exists { u =>
      u.getPath != null && u.getPath.startsWith("/iceberg") && FirnClient.address(session).exists(_.host.equalsIgnoreCase(u.getHost))
    }

  /** Every catalog of the session that is firn's, by its name in Spark. */
  def all: Map[String, String] =
    session.sessionState.conf.getAllConfs.keys.filter(_.startsWith("spark.sql.catalog.")).map(_.stripPrefix("spark.sql.catalog.")).filter(k => !k.contains('.'))
      .flatMap(c => id(c).map(c -> _)).toMap

  def current: String = session.sessionState.catalogManager.currentCatalog.name
  def currentNamespace: Seq[String] = session.sessionState.catalogManager.currentNamespace.toSeq

  private def isCatalog(name: String): Boolean = session.sessionState.catalogManager.isCatalogRegistered(name)

  /** A table or view of firn's; None: of another catalog, or a temporary view. */
  def table(parts: Seq[String]): Option[FirnName] = {
    val name = parts match {
      case head +: rest if rest.nonEmpty && isCatalog(head) => FirnName(head, rest)
      case Seq(only) => FirnName(current, currentNamespace :+ only)
      case _ => FirnName(current, parts)
    }
    if (parts.isEmpty || session.sessionState.catalog.isTempView(parts)) None else Some(name).filter(n => id(n.catalog).isDefined)
  }

  def namespace(parts: Seq[String]): Option[FirnName] = {
    val name = parts match {
      case Seq() => FirnName(current, currentNamespace)
      case head +: rest if isCatalog(head) => FirnName(head, rest)
      case _ => FirnName(current, parts)
    }
    Some(name).filter(n => id(n.catalog).isDefined)
  }
}

private[spark] object FirnCatalogs {
  def quoted(name: String): String = "`" + name.replace("`", "``") + "`"
  def literal(text: String): String = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
}
