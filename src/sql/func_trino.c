/* SPDX-License-Identifier: Apache-2.0 */
/* func_trino.c - the list of Trino's functions (Athena engine version 3).
 *
 * An entry stands here only if the engine's text gives Trino's result for every argument, or an error where it would not.  The columns are
 * those of func_table.c; templates that repeat an argument are safe because no volatile function takes part in one. */
#include "sql/func_int.h"

enum { SC = FN_SCALAR, AG = FN_AGGREGATE, WI = FN_WINDOW, T = FD_TRINO };

#define BAD(text) "firn_error('INVALID_FUNCTION_ARGUMENT: " text " SQLSTATE: 22023')"
#define NOT_DONE(text) "firn_error('NOT_SUPPORTED: " text " SQLSTATE: 0A000')"
#define NAN_OR(bad, value) "(CASE WHEN " bad " THEN CAST('NaN' AS DOUBLE) ELSE " value " END)"
#define LOG_OF(value) "(CASE WHEN $1 < 0 THEN CAST('NaN' AS DOUBLE) WHEN $1 = 0 THEN CAST('-Infinity' AS DOUBLE) ELSE " value " END)"
/* What is made of texts and lists lies in memory that the engine does not count: too much is refused before it is made. */
#define TOO_LONG "firn_error('EXCEEDED_LOCAL_MEMORY_LIMIT: the result of the function would be too large SQLSTATE: 54000')"
#define PADDED(value) "(CASE WHEN $2 > 16777216 THEN " TOO_LONG " WHEN $2 NOT BETWEEN 0 AND 2147483647 THEN " BAD("Target length must be in the range [0..2147483647]") " WHEN $3 = '' THEN " \
    BAD("Padding string must not be empty") " ELSE " value " END)"
#define ASCII_ONLY(name, value) "(CASE WHEN strlen($1) <> length($1) OR strlen($2) <> length($2) THEN CAST(" NOT_DONE(name " of texts that are not ASCII") \
    " AS BIGINT) ELSE " value " END)"
/* In the order of the first of each: work grows with elements times distinct ones. */
#define DISTINCT_OF(list, also) "list_filter((CASE WHEN len(" list ") > 20000 AND len(" list ") * len(list_distinct(" list ")) > 1000000000 THEN CAST(" TOO_LONG " AS $T) ELSE " list " END), lambda firn_x, firn_i: list_position(" list ", firn_x) = firn_i" also ")"
/* What Trino's trim() takes away: Unicode's white space. */
#define BLANKS "'\011\012\013\014\015\034\035\036\037 \341\232\200\342\200\200\342\200\201\342\200\202\342\200\203\342\200\204\342\200\205\342\200\206\342\200\210\342\200\211\342\200\212\342\200\250\342\200\251\342\201\237\343\200\200'"

static const FuncSpec specs[] = {
    /* ---- texts ---- */
    { "concat", T, SC, 2, -1, "x*", "!", NULL, 0, NULL },
    { "concat_ws", T, SC, 2, -1, "sx*", "!", NULL, 0, NULL },
    { "length", T, SC, 1, 1, "x", "!", NULL, 0, NULL },
    { "lower", T, SC, 1, 1, "s", "s", NULL, 0, NULL },
    { "upper", T, SC, 1, 1, "s", "s", "replace(upper(replace($1, chr(223), chr(1114111))), chr(1114111), chr(223))", 0, NULL },      /* Java leaves the sharp s */
    { "reverse", T, SC, 1, 1, "x", "!", NULL, 0, NULL },
    { "substr", T, SC, 2, 3, "sll", "!", NULL, 0, NULL },
    { "substring", T, SC, 2, 3, "sll", "!", NULL, 0, "substr" },
    { "position", T, SC, 2, 2, "ss", "l", "strpos($2, $1)", 0, NULL },
    { "strpos", T, SC, 2, 2, "ss", "l", "strpos($1, $2)", 0, NULL },
    { "strrpos", T, SC, 2, 2, "ss", "l", "(CASE WHEN $2 = '' THEN CAST(" NOT_DONE("strrpos of an empty text") " AS BIGINT) WHEN strpos($1, $2) = 0 THEN 0 "
      "ELSE length($1) - length(list_extract(string_split($1, $2), -1)) - length($2) + 1 END)", 0, NULL },
    { "split_to_map", T, SC, 3, 3, "sss", "!", NULL, 0, NULL },
    { "replace", T, SC, 2, 3, "sss", "s", "(CASE WHEN $2 = '' THEN " NOT_DONE("replace of an empty text") " WHEN strlen($3{''}) > strlen($2) AND strlen($1) // strlen($2) * strlen($3{''}) > 16777216 "
      "AND (strlen($1) - strlen(replace($1, $2, ''))) // strlen($2) * strlen($3{''}) > 16777216 THEN " TOO_LONG " ELSE replace($1, $2, $3{''}) END)", 0, NULL },
    { "split", T, SC, 2, 2, "ss", "!", "(CASE WHEN $2 = '' THEN CAST(" BAD("The delimiter may not be the empty string") " AS VARCHAR[]) ELSE string_split($1, $2) END)", 0, NULL },
    { "split_part", T, SC, 3, 3, "ssl", "s", "(CASE WHEN $3 < 1 THEN " BAD("Index must be greater than zero") " WHEN $2 = '' THEN " NOT_DONE("split_part by an empty text")
      " WHEN $3 > len(string_split($1, $2)) THEN NULL ELSE list_extract(string_split($1, $2), $3) END)", 0, NULL },
    { "trim", T, SC, 1, 1, "s", "s", "trim($1, " BLANKS ")", 0, NULL },
    { "ltrim", T, SC, 1, 2, "ss", "s", "ltrim($1, $2{" BLANKS "})", 0, NULL },
    { "rtrim", T, SC, 1, 2, "ss", "s", "rtrim($1, $2{" BLANKS "})", 0, NULL },
    { "trim_both", T, SC, 1, 2, "ss", "s", "trim($1, $2{" BLANKS "})", 0, NULL },
    { "trim_leading", T, SC, 1, 2, "ss", "s", "ltrim($1, $2{" BLANKS "})", 0, NULL },
    { "trim_trailing", T, SC, 1, 2, "ss", "s", "rtrim($1, $2{" BLANKS "})", 0, NULL },
    { "lpad", T, SC, 3, 3, "sls", "s", PADDED("lpad($1, CAST($2 AS INTEGER), $3)"), 0, NULL },
    { "rpad", T, SC, 3, 3, "sls", "s", PADDED("rpad($1, CAST($2 AS INTEGER), $3)"), 0, NULL },
    { "chr", T, SC, 1, 1, "l", "s", "chr(CAST($1 AS INTEGER))", 0, NULL },
    { "codepoint", T, SC, 1, 1, "s", "i", "(CASE WHEN length($1) <> 1 THEN CAST(" BAD("codepoint() takes one character") " AS INTEGER) ELSE unicode($1) END)", 0, NULL },
    { "starts_with", T, SC, 2, 2, "ss", "b", NULL, 0, NULL },
    { "translate", T, SC, 3, 3, "sss", "s", NULL, 0, NULL },
    { "levenshtein_distance", T, SC, 2, 2, "ss", "l", ASCII_ONLY("levenshtein_distance", "levenshtein($1, $2)"), 0, NULL },
    { "hamming_distance", T, SC, 2, 2, "ss", "l", "(CASE WHEN length($1) <> length($2) THEN CAST(" BAD("The input strings to hamming_distance function must have the same length")
      " AS BIGINT) WHEN $1 = '' THEN 0 ELSE " ASCII_ONLY("hamming_distance", "hamming($1, $2)") " END)", 0, NULL },
    { "normalize", T, SC, 1, 1, "s", "s", "nfc_normalize", 0, NULL },
    { "format", T, SC, 2, -1, "sx*", "!", NULL, 0, NULL },
    { "url_encode", T, SC, 1, 1, "s", "s", "replace(replace(replace(url_encode($1), '%20', '+'), '~', '%7E'), '%2A', '*')", 0, NULL },
    { "url_decode", T, SC, 1, 1, "s", "s", "url_decode(replace($1, '+', '%20'))", 0, NULL },
    { "url_extract_protocol", T, SC, 1, 1, "s", "!", NULL, 0, "url_part" },
    { "url_extract_host", T, SC, 1, 1, "s", "!", NULL, 0, "url_part" },
    { "url_extract_port", T, SC, 1, 1, "s", "!", NULL, 0, "url_part" },
    { "url_extract_path", T, SC, 1, 1, "s", "!", NULL, 0, "url_part" },
    { "url_extract_query", T, SC, 1, 1, "s", "!", NULL, 0, "url_part" },
    { "url_extract_fragment", T, SC, 1, 1, "s", "!", NULL, 0, "url_part" },
    { "url_extract_parameter", T, SC, 2, 2, "ss", "!", NULL, 0, NULL },
    { "regexp_like", T, SC, 2, 2, "ss", "!", NULL, 0, NULL },
    { "regexp_extract", T, SC, 2, 3, "ssl", "!", NULL, 0, NULL },
    { "regexp_extract_all", T, SC, 2, 3, "ssl", "!", NULL, 0, NULL },
    { "regexp_replace", T, SC, 2, 3, "sss", "!", NULL, 0, NULL },
    { "regexp_split", T, SC, 2, 2, "ss", "!", NULL, 0, NULL },
    { "regexp_count", T, SC, 2, 2, "ss", "!", NULL, 0, NULL },

    /* ---- bytes ---- */
    { "to_utf8", T, SC, 1, 1, "s", "B", "encode($1)", 0, NULL },
    { "from_utf8", T, SC, 1, 1, "B", "s", "decode($1)", 0, NULL },
    { "to_hex", T, SC, 1, 1, "B", "s", "hex($1)", 0, NULL },
    { "from_hex", T, SC, 1, 1, "s", "B", "(CASE WHEN length($1) % 2 = 1 THEN CAST(" BAD("an odd number of hexadecimal digits") " AS BLOB) ELSE unhex($1) END)", 0, NULL },
    { "to_base64", T, SC, 1, 1, "B", "s", "base64($1)", 0, NULL },
    { "from_base64", T, SC, 1, 1, "s", "B", "from_base64($1)", 0, NULL },
    { "to_base64url", T, SC, 1, 1, "B", "s", "translate(base64($1), '+/', '-_')", 0, NULL },
    { "from_base64url", T, SC, 1, 1, "s", "B", "from_base64(translate($1, '-_', '+/'))", 0, NULL },
    { "md5", T, SC, 1, 1, "B", "B", "unhex(md5($1))", 0, NULL },
    { "sha1", T, SC, 1, 1, "B", "B", "unhex(sha1($1))", 0, NULL },
    { "sha256", T, SC, 1, 1, "B", "B", "unhex(sha256($1))", 0, NULL },

    { "sha512", T, SC, 1, 1, "B", "B", "firn_sha512", 0, NULL },
    { "crc32", T, SC, 1, 1, "B", "l", "firn_crc32", 0, NULL },

    /* ---- numbers ---- */
    { "abs", T, SC, 1, 1, "n", "1", NULL, 0, NULL },
    { "sign", T, SC, 1, 1, "n", "!", NULL, 0, NULL },
    { "ceil", T, SC, 1, 1, "n", "!", "ceil", 0, "ceiling" },
    { "ceiling", T, SC, 1, 1, "n", "!", "ceil", 0, NULL },
    { "floor", T, SC, 1, 1, "n", "!", "floor", 0, NULL },
    { "round", T, SC, 1, 2, "ni", "!", NULL, 0, NULL },
    { "truncate", T, SC, 1, 2, "ni", "!", NULL, 0, NULL },
    { "mod", T, SC, 2, 2, "nn", "!", NULL, 0, NULL },
    { "sqrt", T, SC, 1, 1, "d", "d", NAN_OR("$1 < 0", "sqrt($1)"), 0, NULL },
    { "cbrt", T, SC, 1, 1, "d", "d", "(CASE WHEN pow(round(cbrt($1)), 3) = $1 THEN round(cbrt($1)) ELSE cbrt($1) END)", 0, NULL },
    { "exp", T, SC, 1, 1, "d", "d", NULL, 0, NULL },
    { "ln", T, SC, 1, 1, "d", "d", LOG_OF("ln($1)"), 0, NULL },
    { "log2", T, SC, 1, 1, "d", "d", LOG_OF("log2($1)"), 0, NULL },
    { "log10", T, SC, 1, 1, "d", "d", LOG_OF("log10($1)"), 0, NULL },
    { "log", T, SC, 2, 2, "dd", "d", "(CASE WHEN $1 < 0 OR $2 < 0 THEN CAST('NaN' AS DOUBLE) WHEN $1 = 0 OR $2 = 0 THEN CAST(" NOT_DONE("log of zero") " AS DOUBLE) ELSE ln($2) / ln($1) END)", 0, NULL },
    { "pow", T, SC, 2, 2, "dd", "d", "pow", 0, "power" },
    { "power", T, SC, 2, 2, "dd", "d", "pow", 0, NULL },
    { "pi", T, SC, 0, 0, "", "d", NULL, 0, NULL },
    { "e", T, SC, 0, 0, "", "d", "exp(1.0)", 0, NULL },
    { "nan", T, SC, 0, 0, "", "d", "CAST('NaN' AS DOUBLE)", 0, NULL },
    { "infinity", T, SC, 0, 0, "", "d", "CAST('Infinity' AS DOUBLE)", 0, NULL },
    { "is_nan", T, SC, 1, 1, "d", "b", "isnan", 0, NULL },
    { "is_finite", T, SC, 1, 1, "d", "b", "isfinite", 0, NULL },
    { "is_infinite", T, SC, 1, 1, "d", "b", "isinf", 0, NULL },
    { "degrees", T, SC, 1, 1, "d", "d", NULL, 0, NULL },
    { "radians", T, SC, 1, 1, "d", "d", NULL, 0, NULL },
    { "sin", T, SC, 1, 1, "d", "d", NAN_OR("isinf($1)", "sin($1)"), 0, NULL },
    { "cos", T, SC, 1, 1, "d", "d", NAN_OR("isinf($1)", "cos($1)"), 0, NULL },
    { "tan", T, SC, 1, 1, "d", "d", NAN_OR("isinf($1)", "tan($1)"), 0, NULL },
    { "asin", T, SC, 1, 1, "d", "d", NAN_OR("abs($1) > 1", "asin($1)"), 0, NULL },
    { "acos", T, SC, 1, 1, "d", "d", NAN_OR("abs($1) > 1", "acos($1)"), 0, NULL },
    { "atan", T, SC, 1, 1, "d", "d", NULL, 0, NULL },
    { "atan2", T, SC, 2, 2, "dd", "d", NULL, 0, NULL },
    { "sinh", T, SC, 1, 1, "d", "d", NULL, 0, NULL },
    { "cosh", T, SC, 1, 1, "d", "d", NULL, 0, NULL },
    { "tanh", T, SC, 1, 1, "d", "d", NULL, 0, NULL },
    { "rand", T, SC, 0, 2, "ll", "!", NULL, FF_VOLATILE, "random" },
    { "random", T, SC, 0, 2, "ll", "!", NULL, FF_VOLATILE, NULL },
    { "bitwise_and", T, SC, 2, 2, "ll", "l", "($1 & $2)", 0, NULL },
    { "bitwise_or", T, SC, 2, 2, "ll", "l", "($1 | $2)", 0, NULL },
    { "bitwise_xor", T, SC, 2, 2, "ll", "l", "xor($1, $2)", 0, NULL },
    { "bitwise_not", T, SC, 1, 1, "l", "l", "(~$1)", 0, NULL },
    { "to_base", T, SC, 2, 2, "ll", "s", "(CASE WHEN $2 NOT BETWEEN 2 AND 36 THEN " BAD("Radix must be between 2 and 36")
      " WHEN $1 < 0 THEN '-' || lower(to_base(-$1, CAST($2 AS INTEGER))) ELSE lower(to_base($1, CAST($2 AS INTEGER))) END)", 0, NULL },
    { "width_bucket", T, SC, 4, 4, "dddl", "l", "(CASE WHEN NOT ($2 < $3) OR $4 <= 0 OR NOT isfinite($1) THEN CAST(" NOT_DONE("width_bucket of these bounds") " AS BIGINT) WHEN $1 < $2 THEN 0 WHEN $1 >= $3 THEN $4 + 1 "
      "ELSE CAST(floor(($1 - $2) / ($3 - $2) * $4) AS BIGINT) + 1 END)", 0, NULL },
    { "greatest", T, SC, 1, -1, "c*", "!", NULL, 0, NULL },
    { "least", T, SC, 1, -1, "c*", "!", NULL, 0, NULL },

    /* ---- conditions ---- */
    { "if", T, SC, 2, 3, "bcc", "c", "(CASE WHEN $1 THEN $2 ELSE $3{NULL} END)", 0, NULL },
    { "coalesce", T, SC, 2, -1, "c*", "c", NULL, 0, NULL },
    { "nullif", T, SC, 2, 2, "xx", "!", NULL, 0, NULL },
    { "try", T, SC, 1, 1, "x", "!", NULL, 0, NULL },
    { "typeof", T, SC, 1, 1, "x", "!", NULL, 0, NULL },
    { "uuid", T, SC, 0, 0, "", "!", "uuid()", FF_VOLATILE, NULL },
    { "fail", T, SC, 1, 1, "s", "s", "firn_error('GENERIC_USER_ERROR: ' || $1 || ' SQLSTATE: P0001')", 0, NULL },

    /* ---- dates ---- */
    { "current_date", T, SC, 0, 0, "", "!", NULL, 0, "now_date" },
    { "current_timestamp", T, SC, 0, 1, "i", "!", NULL, 0, "now" },
    { "now", T, SC, 0, 0, "", "!", NULL, 0, "now" },
    { "localtimestamp", T, SC, 0, 1, "i", "!", NULL, 0, "now_local" },
    { "current_timezone", T, SC, 0, 0, "", "s", "'UTC'", 0, NULL },
    { "date", T, SC, 1, 1, "x", "!", NULL, 0, NULL },
    { "date_trunc", T, SC, 2, 2, "st", "!", NULL, 0, NULL },
    { "date_add", T, SC, 3, 3, "slt", "!", NULL, 0, NULL },
    { "date_diff", T, SC, 3, 3, "stt", "!", NULL, 0, NULL },
    { "date_format", T, SC, 2, 2, "ts", "!", NULL, 0, NULL },
    { "date_parse", T, SC, 2, 2, "ss", "!", NULL, 0, NULL },
    { "format_datetime", T, SC, 2, 2, "ts", "!", NULL, 0, NULL },
    { "parse_datetime", T, SC, 2, 2, "ss", "!", NULL, 0, NULL },
    { "from_unixtime", T, SC, 1, 2, "ds", "!", NULL, 0, NULL },
    { "to_unixtime", T, SC, 1, 1, "t", "d", "epoch($1)", 0, NULL },
    { "from_iso8601_timestamp", T, SC, 1, 1, "s", "!", NULL, 0, NULL },
    { "from_iso8601_date", T, SC, 1, 1, "s", "!", NULL, 0, NULL },
    { "to_iso8601", T, SC, 1, 1, "t", "!", NULL, 0, NULL },
    { "extract", T, SC, 2, 2, "sx", "!", NULL, 0, NULL },
    { "last_day_of_month", T, SC, 1, 1, "t", "!", NULL, 0, NULL },
    { "at_timezone", T, SC, 2, 2, "ts", "!", NULL, 0, "zone_at" },
    { "with_timezone", T, SC, 2, 2, "ts", "!", NULL, 0, "zone_with" },
    { "to_milliseconds", T, SC, 1, 1, "V", "l", "CAST(round(epoch($1) * 1000) AS BIGINT)", 0, NULL },
    { "year", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "quarter", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "month", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "week", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "week_of_year", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "day", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "day_of_month", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "day_of_week", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "dow", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "day_of_year", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "doy", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "year_of_week", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "yow", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "hour", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "minute", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "second", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "millisecond", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "timezone_hour", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },
    { "timezone_minute", T, SC, 1, 1, "x", "!", NULL, 0, "time_part" },

    /* ---- JSON ---- */
    { "json_extract", T, SC, 2, 2, "xs", "!", NULL, 0, NULL },
    { "json_extract_scalar", T, SC, 2, 2, "xs", "!", NULL, 0, NULL },
    { "json_size", T, SC, 2, 2, "xs", "!", NULL, 0, NULL },
    { "json_array_length", T, SC, 1, 1, "x", "!", NULL, 0, NULL },
    { "json_parse", T, SC, 1, 1, "s", "j", "CAST((CASE WHEN $1 IS NULL OR json_valid($1) THEN firn_json_sorted($1) ELSE firn_error('INVALID_FUNCTION_ARGUMENT: Cannot convert value to JSON: ''' || $1 || ''' SQLSTATE: 22023') END) AS JSON)", 0, NULL },
    { "json_format", T, SC, 1, 1, "j", "s", "CAST(json_extract($1, '$$') AS VARCHAR)", 0, NULL },
    { "is_json_scalar", T, SC, 1, 1, "x", "!", NULL, 0, NULL },

    /* ---- arrays and maps ---- */
    { "cardinality", T, SC, 1, 1, "x", "!", NULL, 0, NULL },
    { "element_at", T, SC, 2, 2, "xx", "!", NULL, 0, NULL },
    { "contains", T, SC, 2, 2, "ax", "!", NULL, 0, NULL },
    { "array_position", T, SC, 2, 2, "ax", "!", NULL, 0, NULL },
    { "array_remove", T, SC, 2, 2, "ax", "!", NULL, 0, NULL },
    { "array_join", T, SC, 2, 3, "ass", "!", NULL, 0, NULL },
    { "array_distinct", T, SC, 1, 1, "a", "1", DISTINCT_OF("$1", ""), 0, NULL },
    { "array_sort", T, SC, 1, 1, "a", "1", "list_sort($1, 'ASC', 'NULLS LAST')", 0, NULL },
    { "array_max", T, SC, 1, 1, "a", "!", NULL, 0, "array_extreme" },
    { "array_min", T, SC, 1, 1, "a", "!", NULL, 0, "array_extreme" },
    { "array_intersect", T, SC, 2, 2, "cc", "c", "(CASE WHEN $2 IS NULL THEN NULL ELSE " DISTINCT_OF("$1", " AND list_position($2, firn_x) IS NOT NULL") " END)", 0, NULL },
    { "array_except", T, SC, 2, 2, "cc", "c", "(CASE WHEN $2 IS NULL THEN NULL ELSE " DISTINCT_OF("$1", " AND list_position($2, firn_x) IS NULL") " END)", 0, NULL },
    { "array_union", T, SC, 2, 2, "cc", "c", DISTINCT_OF("($1 || $2)", ""), 0, NULL },
    { "arrays_overlap", T, SC, 2, 2, "cc", "b", "(CASE WHEN $1 IS NULL OR $2 IS NULL THEN NULL WHEN list_has_any($1, $2) THEN true "
      "WHEN list_count($1) < len($1) OR list_count($2) < len($2) THEN NULL ELSE false END)", 0, NULL },
    { "slice", T, SC, 3, 3, "all", "1", "(CASE WHEN $1 IS NULL OR $2 IS NULL OR $3 IS NULL THEN NULL WHEN $2 = 0 THEN CAST(" BAD("SQL array indices start at 1") " AS $T) WHEN $3 < 0 THEN CAST("
      BAD("length must be greater than or equal to 0") " AS $T) WHEN $2 > 0 THEN list_slice($1, $2, $2 + $3 - 1) WHEN -$2 > len($1) OR $3 = 0 THEN list_slice($1, 2, 1) "
      "ELSE list_slice($1, len($1) + $2 + 1, len($1) + $2 + $3) END)", 0, NULL },
    { "sequence", T, SC, 2, 3, "xxx", "!", NULL, 0, NULL },
    { "repeat", T, SC, 2, 2, "xl", "!", NULL, 0, NULL },
    { "flatten", T, SC, 1, 1, "a", "!", NULL, 0, NULL },
    { "zip", T, SC, 2, 5, "a*", "!", NULL, 0, NULL },
    { "zip_with", T, SC, 3, 3, "aax", "!", NULL, 0, NULL },
    { "trim_array", T, SC, 2, 2, "al", "1", "(CASE WHEN $2 < 0 OR $2 > len($1) THEN CAST(" BAD("size must be between 0 and the cardinality of the array") " AS $T) WHEN $2 IS NOT NULL THEN list_slice($1, 1, len($1) - $2) END)", 0, NULL },
    { "transform", T, SC, 2, 2, "ax", "!", NULL, 0, NULL },
    { "filter", T, SC, 2, 2, "ax", "!", NULL, 0, NULL },
    { "any_match", T, SC, 2, 2, "ax", "!", NULL, 0, NULL },
    { "all_match", T, SC, 2, 2, "ax", "!", NULL, 0, NULL },
    { "none_match", T, SC, 2, 2, "ax", "!", NULL, 0, NULL },
    { "reduce", T, SC, 4, 4, "axxx", "!", NULL, 0, NULL },
    { "map", T, SC, 0, 2, "aa", "!", NULL, 0, NULL },
    { "map_keys", T, SC, 1, 1, "m", "!", NULL, 0, NULL },
    { "map_values", T, SC, 1, 1, "m", "!", NULL, 0, NULL },
    { "map_entries", T, SC, 1, 1, "m", "!", NULL, 0, NULL },
    { "map_from_entries", T, SC, 1, 1, "a", "!", NULL, 0, NULL },
    { "map_concat", T, SC, 2, -1, "c*", "c", "(CASE WHEN len([$*]) = list_count([$*]) THEN map_concat($*) END)", 0, NULL },
    { "map_filter", T, SC, 2, 2, "mx", "!", NULL, 0, NULL },
    { "transform_keys", T, SC, 2, 2, "mx", "!", NULL, 0, NULL },
    { "transform_values", T, SC, 2, 2, "mx", "!", NULL, 0, NULL },

    /* ---- aggregates ---- */
    { "count", T, AG, 0, 1, "x", "l", NULL, 0, NULL },
    { "count_if", T, AG, 1, 1, "b", "l", NULL, 0, NULL },
    { "sum", T, AG, 1, 1, "n", "!", NULL, 0, NULL },
    { "avg", T, AG, 1, 1, "n", "!", NULL, 0, NULL },
    { "min", T, AG, 1, 2, "xl", "!", NULL, 0, NULL },
    { "max", T, AG, 1, 2, "xl", "!", NULL, 0, NULL },
    { "min_by", T, AG, 2, 2, "xx", "!", NULL, 0, NULL },
    { "max_by", T, AG, 2, 2, "xx", "!", NULL, 0, NULL },
    { "arbitrary", T, AG, 1, 1, "x", "1", "any_value", 0, "arbitrary" },
    { "any_value", T, AG, 1, 1, "x", "1", "any_value", 0, "arbitrary" },
    { "bool_and", T, AG, 1, 1, "b", "b", NULL, 0, NULL },
    { "bool_or", T, AG, 1, 1, "b", "b", NULL, 0, NULL },
    { "every", T, AG, 1, 1, "b", "b", "bool_and", 0, "bool_and" },
    { "bitwise_and_agg", T, AG, 1, 1, "l", "l", "bit_and", 0, NULL },
    { "bitwise_or_agg", T, AG, 1, 1, "l", "l", "bit_or", 0, NULL },
    { "bitwise_xor_agg", T, AG, 1, 1, "l", "l", "bit_xor", 0, NULL },
    { "stddev", T, AG, 1, 1, "d", "d", "stddev_samp", 0, "stddev_samp" },
    { "stddev_samp", T, AG, 1, 1, "d", "d", NULL, 0, NULL },
    { "stddev_pop", T, AG, 1, 1, "d", "d", NULL, 0, NULL },
    { "variance", T, AG, 1, 1, "d", "d", "var_samp", 0, "var_samp" },
    { "var_samp", T, AG, 1, 1, "d", "d", NULL, 0, NULL },
    { "var_pop", T, AG, 1, 1, "d", "d", NULL, 0, NULL },
    { "covar_pop", T, AG, 2, 2, "dd", "d", NULL, 0, NULL },
    { "covar_samp", T, AG, 2, 2, "dd", "d", NULL, 0, NULL },
    { "corr", T, AG, 2, 2, "dd", "d", NULL, 0, NULL },
    { "regr_slope", T, AG, 2, 2, "dd", "d", NULL, 0, NULL },
    { "regr_intercept", T, AG, 2, 2, "dd", "d", NULL, 0, NULL },
    { "geometric_mean", T, AG, 1, 1, "d", "d", "geomean", 0, NULL },
    { "approx_distinct", T, AG, 1, 2, "xd", "!", NULL, 0, NULL },
    { "approx_percentile", T, AG, 2, 2, "nx", "!", NULL, 0, NULL },
    { "array_agg", T, AG, 1, 1, "x", "!", NULL, 0, NULL },
    { "listagg", T, AG, 1, 2, "ss", "s", "string_agg($1, $2{''})", 0, "string_agg" },
    { "map_agg", T, AG, 2, 2, "xx", "!", NULL, 0, NULL },
    { "multimap_agg", T, AG, 2, 2, "xx", "!", NULL, 0, NULL },
    { "histogram", T, AG, 1, 1, "x", "!", NULL, 0, NULL },
    { "grouping", T, AG, 1, -1, "x*", "!", NULL, 0, NULL },

    /* ---- windows ---- */
    { "row_number", T, WI, 0, 0, "", "l", NULL, 0, NULL },
    { "rank", T, WI, 0, 0, "", "l", NULL, 0, NULL },
    { "dense_rank", T, WI, 0, 0, "", "l", NULL, 0, NULL },
    { "percent_rank", T, WI, 0, 0, "", "d", NULL, 0, NULL },
    { "cume_dist", T, WI, 0, 0, "", "d", NULL, 0, NULL },
    { "ntile", T, WI, 1, 1, "l", "l", NULL, 0, NULL },
    { "lag", T, WI, 1, 3, "xlx", "!", NULL, 0, NULL },
    { "lead", T, WI, 1, 3, "xlx", "!", NULL, 0, NULL },
    { "first_value", T, WI, 1, 1, "x", "1", NULL, 0, NULL },
    { "last_value", T, WI, 1, 1, "x", "1", NULL, 0, NULL },
    { "nth_value", T, WI, 2, 2, "xl", "1", NULL, 0, NULL },

    /* ---- the session ---- */
    { "current_user", T, SC, 0, 0, "", "!", NULL, 0, NULL },
    { "current_catalog", T, SC, 0, 0, "", "!", NULL, 0, NULL },
    { "current_schema", T, SC, 0, 0, "", "!", NULL, 0, NULL },
};

const FuncSpec *trino_func_find(Str name)
{
    for (size_t i = 0; i < COUNT_OF(specs); i++)
        if (str_eq(name, str_c(specs[i].name)))
            return &specs[i];
    return NULL;
}

size_t trino_func_count(void) { return COUNT_OF(specs); }
const FuncSpec *trino_func_at(size_t i) { return &specs[i]; }

FuncWorker func_trino(Str canonical, int dialect)
{
    static FuncWorker (*const files[])(Str, int) = { func_trino_text, func_trino_regex, func_trino_json, func_trino_time, func_trino_number, func_trino_nested, func_trino_agg };

    for (size_t i = 0; dialect == FD_TRINO && i < COUNT_OF(files); i++) {
        FuncWorker w = files[i](canonical, dialect);
        if (w)
            return w;
    }
    return NULL;
}
