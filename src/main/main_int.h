/* SPDX-License-Identifier: Apache-2.0 */
/* main_int.h - shared by the program's own files: configuration, commands, wiring. */
#ifndef FIRN_MAIN_INT_H
#define FIRN_MAIN_INT_H

#include "base/base.h"
#include "service/service.h"

enum { EXIT_DONE = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_NO_SERVER = 3 };

#define FIRN_VERSION "0.1.0"

/* ---- configuration ------------------------------------------------------------------------------------------------ */

typedef struct ConfigKey { const char *key, *fallback, *meaning, *choices; } ConfigKey;      /* choices: "on|off", or NULL for any text */
typedef struct ConfigValue { Str value; const char *origin; } ConfigValue;                     /* origin: "default", "file", "environment", "--set" */
typedef struct Config { Arena *a; Str data; Map values; } Config;

extern const ConfigKey config_keys[];
extern const size_t config_nkeys;
void config_init(Config *c, Arena *a);
NODISCARD Status config_set(Config *c, Str key, Str value, const char *origin, Error *err);     /* E_INVALID: unknown key or value */
NODISCARD Status config_file(Config *c, Str path, Error *err);
NODISCARD Status config_environment(Config *c, Error *err);                                        /* FIRN_<KEY>, dots become underscores */
Str config_get(const Config *c, const char *key);
bool config_on(const Config *c, const char *key);
int64_t config_int(const Config *c, const char *key);
const char *config_origin(const Config *c, const char *key);
void config_service(const Config *c, ServiceOptions *o);

/* ---- command lines -------------------------------------------------------------------------------------------------- */

typedef struct Args { int n; char **v; int at; } Args;
/* The next option's value: "--name value" or "--name=value"; NULL when the argument at hand is not that option. */
const char *args_value(Args *args, const char *name);
bool args_flag(Args *args, const char *name);
int usage_error(const char *fmt, ...) PRINTF_LIKE(1, 2);

typedef struct Endpoints { Str lake, sql, manage; int64_t pid; } Endpoints;
NODISCARD Status endpoints_read(Arena *a, Str dir, Endpoints *ret, Error *err);                  /* E_NOT_FOUND: no server has run here */
NODISCARD Status credentials_read(Arena *a, Str dir, Str profile, Str *id, Str *secret, Error *err);

/* A connection to the SQL door as the data folder's root; the caller finishes it. NULL: said why on standard error. */
struct pg_conn *server_connect(Config *c, const char *database, const StrVec *conf);

int cmd_serve(Config *c);
int cmd_sql(Config *c, Args *args);
int cmd_status(Config *c, Args *args);
int cmd_env(Config *c, Args *args);
int cmd_verify(Config *c, Args *args);
int cmd_config(Config *c, Args *args);

void print_aws_api(void);                                /* aws_api.c */

#endif
