// SPDX-License-Identifier: Apache-2.0
package io.firn.spark

import java.lang.ref.WeakReference
import java.net.URI
import java.sql.{Connection, SQLException, Statement}
import java.util.{Properties, WeakHashMap}
import java.util.concurrent.ConcurrentLinkedDeque

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.postgresql.Driver

/** Where firn's SQL door is. */
private[spark] case class FirnAddress(host: String, port: Int, tls: Boolean)

/** Speaks to firn's SQL door: PostgreSQL's protocol, database "spark".
 *
 * Who one is there: the access key that the session has for AWS.  A connection belongs to one state of the session's settings, which go along when it is opened,
 * and is used again while they stay as they are; each is used by one statement at a time. */
private[spark] class FirnClient(owner: WeakReference[SparkSession]) extends Logging {
  private case class Login(address: FirnAddress, user: String, password: String, settings: Map[String, String])
  private val idle = new ConcurrentLinkedDeque[(Login, Connection)]
  private def session: SparkSession = owner.get
  private def catalogs = new FirnCatalogs(session)

  /** Rows of the statement, cell by cell as text; booleans as "t" and "f". */
  def run(sql: String): Seq[Seq[String]] = {
    val login = loginOf()
    val connection = take(login)
    try {
      val rows = execute(connection, sql)
      idle.push((login, connection))
      rows
    } catch {
      case e: SQLException if e.getSQLState != null && !e.getSQLState.startsWith("08") && !e.getSQLState.startsWith("57P") =>
        idle.push((login, connection))
        throw FirnErrors.of(e)
      case e: SQLException => close(connection); throw FirnErrors.of(e)
      case NonFatal(e) => close(connection); throw e
    }
  }

  /** As run, for what Spark can do without firn: None when firn refuses, or is not there. */
  def ask(sql: String): Option[Seq[Seq[String]]] =
    try Some(run(sql))
    catch {
      case e: FirnException => logWarning(s"firn did not answer: ${e.getMessage}"); None
      case _: FirnAnalysisException => None
    }

  private def execute(c: Connection, sql: String): Seq[Seq[String]] = {
    val s = c.createStatement()
    try {
      s.setEscapeProcessing(false)
      var isRows = s.execute(sql)
      var rows = Seq.empty[Seq[String]]
      while (isRows || s.getUpdateCount >= 0) {
        if (isRows) rows = read(s)
        isRows = s.getMoreResults()
      }
      notices(s)
      rows
    } finally s.close()
  }

  private def read(s: Statement): Seq[Seq[String]] = {
    val r = s.getResultSet
    val n = r.getMetaData.getColumnCount
    val rows = Seq.newBuilder[Seq[String]]
    while (r.next()) rows += (1 to n).map(r.getString)
    rows.result()
  }

  private def notices(s: Statement): Unit = {
    var w = s.getWarnings
    while (w != null) {
      logInfo(s"firn: ${w.getMessage}")
      w = w.getNextWarning
    }
  }

  private def take(login: Login): Connection = {
    var at = idle.poll()
    while (at != null) {
      if (at._1 == login && Try(at._2.isValid(5)).getOrElse(false)) return useNamespace(at._2)
      close(at._2)
      at = idle.poll()
    }
    useNamespace(open(login))
  }

  private def close(c: Connection): Unit = try c.close() catch { case _: SQLException => }

  private def open(login: Login): Connection = {
    val p = new Properties
    p.setProperty("user", login.user)
    p.setProperty("password", login.password)
    p.setProperty("preferQueryMode", "simple")
    p.setProperty("sslmode", if (login.address.tls) "require" else "disable")
    p.setProperty("ApplicationName", "spark")
    p.setProperty("connectTimeout", "10")
    p.setProperty("loginTimeout", "20")
    p.setProperty("tcpKeepAlive", "true")
    p.setProperty("options", login.settings.toSeq.sorted.map { case (k, v) => "-c " + FirnClient.word(s"$k=$v") }.mkString(" "))
    val host = if (login.address.host.contains(':')) s"[${login.address.host}]" else login.address.host
    try new Driver().connect(s"jdbc:postgresql://$host:${login.address.port}/spark", p)
    catch { case e: SQLException => throw FirnErrors.of(e) }
  }

  /** Names without a catalog and namespace mean the session's current ones. A namespace that is not there is none for firn either. */
  private def useNamespace(c: Connection): Connection = {
    if (catalogs.id(catalogs.current).isDefined && catalogs.currentNamespace.nonEmpty)
      try execute(c, "USE " + FirnName(catalogs.current, catalogs.currentNamespace).sql)
      catch { case e: SQLException => logDebug(s"USE: ${e.getMessage}") }
    c
  }

  private def loginOf(): Login = {
    val address = FirnClient.address(session).getOrElse(throw FirnErrors.analysis(
      "This statement is firn's, and Spark does not know where firn is: set spark.firn.sql.url (postgres://host:port), or FIRN_SQL_URL in the environment.", "08001"))
    val (user, password) = FirnClient.credentials(session)
    Login(address, user, password, settings)
  }

  private def settings: Map[String, String] = {
    val all = session.sessionState.conf.getAllConfs
    val passed = all.filter { case (k, _) => FirnClient.passedOn.exists(k.startsWith) }
    val ids = catalogs.all.collect { case (c, id) if id.nonEmpty => s"spark.sql.catalog.$c.glue.id" -> id }
    val current = if (catalogs.id(catalogs.current).isDefined) Map("spark.sql.defaultCatalog" -> catalogs.current) else Map.empty
    passed ++ ids ++ current
  }
}

private[spark] object FirnClient {
  /** Settings that change what firn does. */
  private val passedOn = Seq("spark.sql.mv.", "spark.sql.materializedView", "spark.sql.optimizer.answerQueriesWithMVs", "spark.sql.optimizer.incrementalMVRefresh",
    "spark.sql.session.timeZone", "spark.sql.caseSensitive", "spark.firn.glue.")

  /** A client does not hold its session, so that both go when nobody else has it. */
  private val clients = new WeakHashMap[SparkSession, FirnClient]

  def of(session: SparkSession): FirnClient = clients.synchronized(clients.computeIfAbsent(session, s => new FirnClient(new WeakReference(s))))

  private def conf(session: SparkSession, key: String, environment: String*): Option[String] =
    Option(session.sessionState.conf.getConfString(key, null)).orElse(environment.flatMap(e => Option(System.getenv(e))).headOption).map(_.trim).filter(_.nonEmpty)

  /** postgres://host:port, postgresql://…, jdbc:postgresql://…, or host:port; ?sslmode=require for TLS. */
  def address(session: SparkSession): Option[FirnAddress] = conf(session, "spark.firn.sql.url", "FIRN_SQL_URL").map { text =>
    val plain = text.stripPrefix("jdbc:")
    val bad = FirnErrors.analysis(s"spark.firn.sql.url is '$text': it must be postgres://host:port", "22023")
    val u = Try(new URI(if (plain.contains("://")) plain else "postgres://" + plain)).getOrElse(throw bad)
    if (u.getHost == null) throw bad
    val tls = Option(u.getQuery).exists(q => q.split('&').exists(p => p == "sslmode=require" || p == "ssl=true"))
    FirnAddress(u.getHost.stripPrefix("[").stripSuffix("]"), if (u.getPort > 0) u.getPort else 6875, tls)
  }

  /** The configuration's, the environment's, the JVM's, or what AWS's own chain of providers finds. */
  def credentials(session: SparkSession): (String, String) = {
    val given = for (u <- conf(session, "spark.firn.sql.user"); p <- conf(session, "spark.firn.sql.password")) yield (u, p)
    given.orElse(pair(k => Option(System.getenv(k)), "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"))
      .orElse(pair(k => Option(System.getProperty(k)), "aws.accessKeyId", "aws.secretAccessKey"))
      .orElse(fromChain)
      .getOrElse(throw FirnErrors.analysis("firn needs an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or spark.firn.sql.user and spark.firn.sql.password.", "28000"))
  }

  private def pair(get: String => Option[String], user: String, password: String): Option[(String, String)] =
    for (u <- get(user).filter(_.nonEmpty); p <- get(password).filter(_.nonEmpty)) yield (u, p)

  /** The AWS SDK comes with Iceberg's bundle, and is not there without it. */
  private def fromChain: Option[(String, String)] = Try {
    val provider = Class.forName("software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider", true, Thread.currentThread.getContextClassLoader)
    val found = provider.getMethod("resolveCredentials").invoke(provider.getMethod("create").invoke(null))
    val c = Class.forName("software.amazon.awssdk.identity.spi.AwsCredentialsIdentity", true, provider.getClassLoader)
    (c.getMethod("accessKeyId").invoke(found).toString, c.getMethod("secretAccessKey").invoke(found).toString)
  }.toOption

  /** One word of start-up options: blanks and backslashes escaped. */
  private def word(s: String): String = s.flatMap(ch => if (ch == '\\' || ch.isWhitespace) s"\\$ch" else ch.toString)
}
