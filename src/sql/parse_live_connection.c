/* SPDX-License-Identifier: Apache-2.0 */
/* parse_live_connection.c - CREATE SECRET, CREATE CONNECTION. */
#include "sql/parse_live_int.h"

void lp_create_secret(Parser *p, Stmt *s)
{
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    p_need(p, K_AS);
    s->live->value = p_expr(p);
}

/* The longest first. */
static const struct { const char *words, *type; } TYPES[] = {
    { "AWS PRIVATELINK", "aws privatelink" }, { "AWS GLUE SCHEMA REGISTRY", "aws glue schema registry" }, { "AWS", "aws" }, { "GCP", "gcp" }, { "KAFKA", "kafka" },
    { "CONFLUENT SCHEMA REGISTRY", "confluent schema registry" }, { "POSTGRES", "postgres" }, { "SSH TUNNEL", "ssh tunnel" }, { "SQL SERVER", "sql server" },
    { "MYSQL", "mysql" }, { "ICEBERG CATALOG", "iceberg catalog" },
};

static void connection_type(Parser *p, LiveStmt *l)
{
    for (size_t i = 0; i < COUNT_OF(TYPES); i++)
        if (lp_take(p, TYPES[i].words)) {
            l->type = str_c(TYPES[i].type);
            return;
        }
    p_syntax(p);
}

/* name TO type ( … ) | FOR type … */
void lp_create_connection(Parser *p, Stmt *s)
{
    p_if_not_exists(p, s);
    p_stmt_name(p, s);
    bool bare = p_take(p, K_FOR);
    if (!bare)
        p_need(p, K_TO);
    connection_type(p, s->live);
    if (bare)
        lp_options_any(p, LIVE_OPT_CONNECTION, &s->live->options);
    else
        lp_options(p, LIVE_OPT_CONNECTION, &s->live->options);
    lp_with(p, LIVE_OPT_VALIDATE, &s->live->with);
}
