/* SPDX-License-Identifier: Apache-2.0 */
/* Trino's dialect: statements of Athena are parsed, bound, printed and run; value and type must be Trino's as documented, or the
 * refusal must be. */
#include "sql/test_lab.h"

#define TR DIALECT_TRINO
#define BS "\\"

static void queries(void **state)
{
    static const Case cases[] = {
        { TR, "SELECT id, name FROM emp WHERE dept = 10 ORDER BY id DESC", "2|Bob;1|Ann", "integer,varchar" },
        { TR, "SELECT dept FROM emp GROUP BY 1 ORDER BY 1 DESC", "20;10;NULL", NULL },
        { TR, "SELECT dept FROM emp GROUP BY 1 ORDER BY 1 NULLS FIRST", "NULL;10;20", NULL },
        { TR, "SELECT \"ID\" FROM emp e WHERE E.Name = 'Ann'", "1", NULL },
        { TR, "SELECT id FROM emp ORDER BY id OFFSET 1 LIMIT 2", "2;3", NULL },
        { TR, "SELECT id FROM emp ORDER BY id OFFSET 1 ROWS FETCH FIRST 2 ROWS ONLY", "2;3", NULL },
        { TR, "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(x, y) WHERE x > 1", "2|b", NULL },
        { TR, "VALUES 1, 2", "1;2", "integer" },
        { TR, "SELECT t.a, t.n FROM UNNEST(ARRAY['x', 'y']) WITH ORDINALITY AS t(a, n)", "x|1;y|2", "varchar,bigint" },
        { TR, "SELECT id, x FROM emp CROSS JOIN UNNEST(ARRAY[id, id * 10]) AS t(x) WHERE id < 3 ORDER BY 1, 2", "1|1;1|10;2|2;2|20", NULL },
        { TR, "SELECT k, v FROM UNNEST(MAP(ARRAY['a', 'b'], ARRAY[1, 2])) AS t(k, v) ORDER BY k", "a|1;b|2", NULL },
        { TR, "SELECT a, b FROM UNNEST(ARRAY[1, 2], ARRAY['x']) AS t(a, b) ORDER BY a", "1|x;2|NULL", NULL },
        { TR, "SELECT x, y FROM UNNEST(ARRAY[ROW(1, 'a'), ROW(2, 'b')]) AS t(x, y) ORDER BY x", "1|a;2|b", NULL },
        { TR, "SELECT dept, count(*) FROM emp GROUP BY GROUPING SETS ((dept), ()) ORDER BY 1, 2", "10|2;20|1;NULL|1;NULL|4", NULL },
        { TR, "SELECT dept, grouping(dept), count(*) FROM emp GROUP BY ROLLUP (dept) ORDER BY 1, 2", "10|0|2;20|0|1;NULL|0|1;NULL|1|4", "integer,bigint,bigint" },
        { TR, "SELECT dept, boss, count(*) FROM emp WHERE dept = 10 GROUP BY dept, ROLLUP (boss) ORDER BY 1, 2, 3", "10|1|1;10|NULL|1;10|NULL|2", NULL },
        { TR, "SELECT dept, boss, count(*) FROM emp WHERE dept = 10 GROUP BY GROUPING SETS (ROLLUP (dept, boss), (boss)) ORDER BY 1, 2, 3", "10|1|1;10|NULL|1;10|NULL|2;NULL|1|1;NULL|NULL|1;NULL|NULL|2", NULL },
        { TR, "SELECT dept, count(*) FROM emp GROUP BY CUBE ((dept, boss)) ORDER BY 1, 2", "10|1;10|1;20|1;NULL|1;NULL|4", NULL },
        { TR, "SELECT dept, boss, count(*) FROM emp GROUP BY (dept, boss) ORDER BY 1, 2", "10|1|1;10|NULL|1;20|1|1;NULL|2|1", NULL },
        { TR, "SELECT id FROM emp INTERSECT ALL SELECT id FROM dept", "", NULL },
        { TR, "SELECT id FROM dept EXCEPT ALL SELECT 10 ORDER BY 1", "20;30", NULL },
        { TR, "SELECT name, row_number() OVER (PARTITION BY dept ORDER BY id) FROM emp WHERE dept = 10", "Ann|1;Bob|2", "varchar,bigint" },
        { TR, "SELECT id, sum(salary) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM emp WHERE id < 3", "1|100.50;2|300.75", NULL },
        { TR, "SELECT count(*) FILTER (WHERE dept = 10) FROM emp", "2", "bigint" },
        { TR, "SELECT listagg(name, ',') WITHIN GROUP (ORDER BY id DESC) FROM emp", "Dee,Cid,Bob,Ann", NULL },
        { TR, "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) SELECT sum(n) FROM r", "10", "bigint" },
        { TR, "SELECT id FROM emp WHERE id IN (SELECT boss FROM emp) ORDER BY 1", "1;2", NULL },
        { TR, "SELECT IF(id > 2, 'big') FROM emp ORDER BY id", "NULL;NULL;big;big", NULL },
        { TR, "TABLE dept ORDER BY 1", NULL, NULL },
        { TR, "SELECT DISTINCT dept FROM emp WHERE dept IS NOT NULL ORDER BY dept", "10;20", NULL },
        { TR, "SELECT e.name FROM emp e LEFT JOIN dept d ON e.dept = d.id WHERE d.id IS NULL", "Dee", NULL },
        { TR, "SELECT name FROM emp e JOIN dept USING (id)", "", NULL },
        { TR, "SELECT x FROM (SELECT 1 AS x) LATERAL_T, LATERAL (SELECT x + 1 AS y)", "1", NULL },
        { TR, "SELECT salary + 1 total FROM emp GROUP BY total", "!COLUMN_NOT_FOUND: line 1:43: Column 'total' cannot be resolved", NULL },
        { TR, "SELECT foo FROM emp", "!COLUMN_NOT_FOUND: line 1:8: Column 'foo' cannot be resolved", NULL },
        { TR, "SELECT * FROM nowhere", "!TABLE_NOT_FOUND: line 1:15: Table 'cat.ns.nowhere' does not exist", NULL },
        { TR, "SELECT *\nFROM a.nowhere", "!TABLE_NOT_FOUND: line 2:6: Table 'cat.a.nowhere' does not exist", NULL },
        { TR, "SELECT * FORM emp", "!line 1:10: mismatched input 'FORM'. Expecting:", NULL },
        { TR, "SELECT id FROM", "!line 1:15: mismatched input '<EOF>'. Expecting: <identifier>", NULL },
        { TR, "SELECT name, count(*) FROM emp", "!EXPRESSION_NOT_AGGREGATE: line 1:8: 'name' must be an aggregate expression or appear in GROUP BY clause", NULL },
        { TR, "SELECT foo(1)", "!FUNCTION_NOT_FOUND: line 1:8: Function 'foo' not registered", NULL },
        { TR, "SELECT 1 = 'a'", "!TYPE_MISMATCH: line 1:10: Cannot apply operator: integer = varchar(1)", NULL },
        { TR, "SELECT 1 FROM emp WHERE name = 5", "!TYPE_MISMATCH: line 1:30: Cannot apply operator: varchar = integer", NULL },
        { TR, "SELECT 1 FROM emp WHERE hired > '2020-01-01'", "!Cannot apply operator: date > varchar(10)", NULL },
        { TR, "SELECT 1 UNION ALL SELECT 'a'", "!TYPE_MISMATCH", NULL },
        { TR, "SELECT id FROM emp TABLESAMPLE BERNOULLI (10)", "!TABLESAMPLE is not supported", NULL },
        { TR, "SELECT `id` FROM emp", "!line 1:8: backquoted identifiers are not supported; use double quotes to quote identifiers", NULL },
        { TR, "SELECT 1 WHERE name", "!COLUMN_NOT_FOUND", NULL },
        { TR, "SELECT 1; SELECT 2", "!", NULL },
    };
    check(*state, cases, COUNT_OF(cases));
}

static void numbers(void **state)
{
    static const Case cases[] = {
        { TR, "SELECT 7 / 2, -7 / 2, 7 % 3, -7 % 3", "3|-3|1|-1", "integer,integer,integer,integer" },
        { TR, "SELECT 7 / 2.0, 1.0 / 3.0, 10.00 / 3", "3.5|0.3|3.33", "decimal(12,1),decimal(3,1),decimal(4,2)" },
        { TR, "SELECT 1.5 + 2.25, 1.5 * 2.25, 5.5 % 2", "3.75|3.375|1.5", "decimal(4,2),decimal(5,3),decimal(2,1)" },
        { TR, "SELECT 1e0 / 0, -1e0 / 0e0, is_nan(0e0 / 0e0), is_nan(5e0 % 0e0)", "inf|-inf|true|true", "double,double,boolean,boolean" },
        { TR, "SELECT 1 / 0", "!DIVISION_BY_ZERO: Division by zero", NULL },
        { TR, "SELECT 1.5 / 0", "!DIVISION_BY_ZERO", NULL },
        { TR, "SELECT 2147483647 + 1", "!NUMERIC_VALUE_OUT_OF_RANGE", NULL },
        { TR, "SELECT i + 1 FROM nums", "!NUMERIC_VALUE_OUT_OF_RANGE", NULL },
        { TR, "SELECT 2147483648 + 1", "2147483649", "bigint" },
        { TR, "SELECT sum(id), avg(id), avg(salary), sum(salary), count(*) FROM emp", "10|2.5|200.25|600.75|4", "bigint,double,decimal(10,2),decimal(38,2),bigint" },
        { TR, "SELECT sum(x) FROM (VALUES BIGINT '9223372036854775807', BIGINT '1') t(x)", "!NUMERIC_VALUE_OUT_OF_RANGE", NULL },
        { TR, "SELECT 1e0, 1.0, 1, REAL '1.5', DECIMAL '1.50', BIGINT '5', TINYINT '3'", "1.0|1.0|1|1.5|1.50|5|3", "double,decimal(2,1),integer,real,decimal(3,2),bigint,tinyint" },
        { TR, "SELECT round(2.5), round(-2.5e0), round(3.14159, 2), round(7), round(2.675e0, 2), round(1234, -2)", "3|-3.0|3.14000|7|2.68|1200", "decimal(2,0),double,decimal(7,5),integer,double,integer" },
        { TR, "SELECT ceil(1.2), ceiling(-1.2e0), floor(1.9), floor(5), truncate(-1.9), truncate(1.9e0)", "2|-1.0|1|5|-1|1.0", "decimal(2,0),double,decimal(2,0),integer,decimal(1,0),double" },
        { TR, "SELECT abs(-5), sign(-2.5), sign(3), mod(7, 3), power(2, 3), sqrt(4), sqrt(-1)", "5|-1|1|1|8.0|2.0|nan", "integer,decimal(1,0),integer,integer,double,double,double" },
        { TR, "SELECT ln(0e0), log2(8), log10(100), log(2, 8), exp(0), cbrt(27), is_nan(nan())", "-inf|3.0|2.0|3.0|1.0|3.0|true", NULL },
        { TR, "SELECT greatest(1, 2, 3), least(1.5, 2), greatest(1, NULL)", "3|1.5|NULL", "integer,decimal(11,1),integer" },
        { TR, "SELECT nan() = nan(), nan() <> nan(), nan() > 1e0, 1e0 < nan(), infinity() > 1e0", "false|true|false|false|true", NULL },
        { TR, "SELECT max(x), min(x), max(x) FILTER (WHERE is_nan(x)) FROM (VALUES 1e0, nan(), 3e0) t(x)", "3.0|1.0|nan", "double,double,double" },
        { TR, "SELECT max(x) OVER (), x FROM (VALUES REAL '1', REAL 'NaN') t(x) ORDER BY x", "1.0|1.0;1.0|nan", NULL },
        { TR, "SELECT greatest(1e0, nan())", "!NOT_SUPPORTED", NULL },
        { TR, "SELECT array_max(ARRAY[1e0, nan()])", "!NOT_SUPPORTED", NULL },
        { TR, "SELECT greatest(1e0, 2), max_by(1, 2e0), array_max(ARRAY[1e0, 2e0])", "2.0|1|2.0", NULL },
        { TR, "SELECT bitwise_and(12, 10), bitwise_or(12, 10), bitwise_xor(12, 10), bitwise_not(5), to_base(255, 16)", "8|14|6|-6|ff", "bigint,bigint,bigint,bigint,varchar" },
        { TR, "SELECT count_if(id > 2), bool_and(id > 0), bool_or(id > 3), every(id > 1) FROM emp", "2|true|true|false", "bigint,boolean,boolean,boolean" },
        { TR, "SELECT max_by(name, id), min_by(name, salary), arbitrary(dept), max(id, 2), min(name) FROM emp", "Dee|Ann|10|[4, 3]|Ann", NULL },
        { TR, "SELECT approx_distinct(dept), approx_percentile(id, 0.5), approx_percentile(id, ARRAY[0.25, 0.75]) FROM emp", "2|2|[1, 3]", "bigint,integer,array(integer)" },
        { TR, "SELECT stddev(id), var_pop(id), corr(id, id) FROM emp WHERE id < 3", "0.7071067811865476|0.25|1.0", NULL },
        { TR, "SELECT CAST(x AS DECIMAL(5,2)) * CAST(y AS DECIMAL(5,2)) FROM (VALUES (1.5, 2.5)) t(x, y)", "3.7500", "decimal(10,4)" },
        { TR, "SELECT -x FROM (VALUES -9223372036854775807) t(x)", "9223372036854775807", "bigint" },
        { TR, "SELECT try(1 / 0), try(CAST('a' AS INTEGER)), coalesce(try(1 / 0), 5)", "NULL|NULL|5", "integer,integer,integer" },
        { TR, "SELECT NULLIF(1, 1), NULLIF(1, 2), COALESCE(NULL, 3)", "NULL|1|3", "integer,integer,integer" },
        { TR, "SELECT 1 + 'a'", "!TYPE_MISMATCH: line 1:10: Cannot apply operator: integer + varchar(1)", NULL },
        { TR, "SELECT abs('a')", "!TYPE_MISMATCH", NULL },
    };
    check(*state, cases, COUNT_OF(cases));
}

static void casts(void **state)
{
    static const Case cases[] = {
        { TR, "SELECT CAST('42' AS INTEGER), CAST('-1.555' AS DECIMAL(5,2)), CAST(' 1.5e1 ' AS DOUBLE), CAST('true' AS BOOLEAN)", "42|-1.56|15.0|true", NULL },
        { TR, "SELECT CAST(' 42 ' AS INTEGER)", "!INVALID_CAST_ARGUMENT: Cannot cast ' 42 ' to INTEGER", NULL },
        { TR, "SELECT CAST('yes' AS BOOLEAN)", "!INVALID_CAST_ARGUMENT", NULL },
        { TR, "SELECT TRY_CAST('yes' AS BOOLEAN), TRY_CAST('x' AS BIGINT), TRY_CAST('2020-13-45' AS DATE), TRY_CAST('inf' AS DOUBLE)", "NULL|NULL|NULL|NULL", NULL },
        { TR, "SELECT CAST(2.5e0 AS INTEGER), CAST(3.5e0 AS BIGINT), CAST(-2.5e0 AS INTEGER), CAST(2.5 AS INTEGER), CAST(-2.5 AS BIGINT)", "3|4|-3|3|-3", NULL },
        { TR, "SELECT CAST(1.005e0 AS DECIMAL(3,2)), CAST(1.115e0 AS DECIMAL(3,2)), CAST(1e7 AS DECIMAL(10,1)), CAST(REAL '0.1' AS DECIMAL(5,3)), CAST(-2.5e-3 AS DECIMAL(5,3))", "1.01|1.12|10000000.0|0.100|-0.003", NULL },
        { TR, "SELECT CAST(nan() AS DECIMAL(5,3))", "!INVALID_CAST_ARGUMENT", NULL },
        { TR, "SELECT CAST(3000000000 AS INTEGER)", "!NUMERIC_VALUE_OUT_OF_RANGE", NULL },
        { TR, "SELECT CAST(1e7 AS VARCHAR), CAST(1.5e0 AS VARCHAR), CAST(1.50 AS VARCHAR), CAST(true AS VARCHAR), CAST(0.05 AS VARCHAR)", "1.0E7|1.5|1.50|true|0.05", NULL },
        { TR, "SELECT CAST('abcdef' AS VARCHAR(3)), CAST(12 AS VARCHAR(2))", "abc|12", "varchar(3),varchar(2)" },
        { TR, "SELECT CAST(1234 AS VARCHAR(2))", "!cannot be represented as varchar(2)", NULL },
        { TR, "SELECT CAST('2020-01-05' AS DATE), CAST('2020-1-5' AS DATE), DATE '2020-02-29'", "2020-01-05|2020-01-05|2020-02-29", "date,date,date" },
        { TR, "SELECT CAST('2020-01-05 10:20:30.1256' AS TIMESTAMP), CAST('2020-01-05 10:20' AS TIMESTAMP(6))", "2020-01-05 10:20:30.126|2020-01-05 10:20:00", "timestamp(3),timestamp(6)" },
        { TR, "SELECT CAST('2020-01-05T10:20:30' AS TIMESTAMP)", "!INVALID_CAST_ARGUMENT", NULL },
        { TR, "SELECT CAST(TIMESTAMP '2020-01-05 10:20:30.123456' AS TIMESTAMP(3)), CAST(TIMESTAMP '2020-01-05 23:59:59.9996' AS TIMESTAMP(3))", "2020-01-05 10:20:30.123|2020-01-06 00:00:00", NULL },
        { TR, "SELECT CAST(TIMESTAMP '2020-01-05 10:20:30' AS VARCHAR), CAST(TIMESTAMP '2020-01-05 10:20:30.1' AS VARCHAR), CAST(CAST('2020-01-05 10:20:30' AS TIMESTAMP) AS VARCHAR)",
          "2020-01-05 10:20:30|2020-01-05 10:20:30.1|2020-01-05 10:20:30.000", NULL },
        { TR, "SELECT CAST(TIMESTAMP '2020-01-05 10:20:30 UTC' AS VARCHAR), CAST(TIMESTAMP '2020-01-05 10:20:30 UTC' AS DATE)", "2020-01-05 10:20:30 UTC|2020-01-05", NULL },
        { TR, "SELECT CAST(DATE '2020-01-05' AS TIMESTAMP), CAST(TIMESTAMP '2020-01-05 10:20:30' AS DATE)", "2020-01-05 00:00:00|2020-01-05", "timestamp(3),date" },
        { TR, "SELECT CAST(ROW(1, 'a') AS ROW(x BIGINT, y VARCHAR)).x, CAST(ROW(1, '2') AS ROW(INTEGER, INTEGER))", "1|{'field0': 1, 'field1': 2}", NULL },
        { TR, "SELECT CAST(ARRAY['1', '2'] AS ARRAY(INTEGER)), CAST(ARRAY[1, 2] AS ARRAY(VARCHAR))", "[1, 2]|[1, 2]", "array(integer),array(varchar)" },
        { TR, "SELECT CAST(ARRAY[' 1'] AS ARRAY(INTEGER))", "!INVALID_CAST_ARGUMENT", NULL },
        { TR, "SELECT CAST('abc' AS JSON), CAST(1 AS JSON), CAST(ARRAY[1, NULL] AS JSON), JSON '{\"a\": 1}'", "\"abc\"|1|[1,null]|{\"a\":1}", "json,json,json,json" },
        { TR, "SELECT CAST(JSON '5' AS BIGINT), CAST(JSON '\"x\"' AS VARCHAR), CAST(JSON '[1,2]' AS ARRAY(INTEGER)), CAST(JSON '{\"a\":1}' AS MAP(VARCHAR, INTEGER))", "5|x|[1, 2]|{a=1}", NULL },
        { TR, "SELECT CAST(1 AS DATE)", "!TYPE_MISMATCH: line 1:8: Cannot cast integer to date", NULL },
        { TR, "SELECT CAST(1 AS string)", "!TYPE_NOT_FOUND: line 1:18: Unknown type: string", NULL },
        { TR, "SELECT CAST('a' AS CHAR(3))", "!NOT_SUPPORTED", NULL },
        { TR, "SELECT typeof(1), typeof('abc'), typeof(ARRAY[1.5]), typeof(now()), typeof(ROW(1)), typeof(NULL)", "integer|varchar(3)|array(decimal(2,1))|timestamp(3) with time zone|row(field0 integer)|unknown", NULL },
        { TR, "SELECT X'0aFF', U&'caf" BS "00e9', 'it''s', 'a" BS "n'", NULL, "varbinary,varchar,varchar,varchar" },
        { TR, "SELECT U&'caf" BS "00e9', 'it''s', 'a" BS "n'", "café|it's|a" BS "n", NULL },
        { TR, "SELECT CAST(UUID '12151fd2-7586-11e9-8f9e-2a86e4085a59' AS VARCHAR)", "12151fd2-7586-11e9-8f9e-2a86e4085a59", NULL },
    };
    check(*state, cases, COUNT_OF(cases));
}

static void texts(void **state)
{
    static const Case cases[] = {
        { TR, "SELECT concat('a', 'b', 'c'), 'a' || 'b', concat('a', NULL)", "abc|ab|NULL", "varchar,varchar,varchar" },
        { TR, "SELECT concat_ws(',', 'a', NULL, 'b'), concat_ws('-', ARRAY['x', 'y'])", "a,b|x-y", NULL },
        { TR, "SELECT substr('hello', 2), substr('hello', 2, 3), substr('hello', -3), substr('hello', -3, 2), substr('hello', 0), substr('hello', -9), substring('hello' FROM 2 FOR 2)", "ello|ell|llo|ll|||el", NULL },
        { TR, "SELECT substr(name, id), substr(name, -id, 1) FROM emp ORDER BY id", "Ann|n;ob|o;d|C;|", NULL },
        { TR, "SELECT split('a,b,,c', ','), split_part('a,b,c', ',', 2), split_part('a,b,c', ',', 4)", "[a, b, '', c]|b|NULL", NULL },
        { TR, "SELECT rpad('x', 2000000000, 'y')", "!EXCEEDED_LOCAL_MEMORY_LIMIT", NULL },
        { TR, "SELECT repeat(rpad('x', 1000000, 'y'), 10000)", "!EXCEEDED_LOCAL_MEMORY_LIMIT", NULL },
        { TR, "SELECT flatten(repeat(sequence(1, 10000), 10000))", "!EXCEEDED_LOCAL_MEMORY_LIMIT", NULL },
        { TR, "SELECT replace(rpad('a', 1000000, 'a'), 'a', rpad('b', 100000, 'b'))", "!EXCEEDED_LOCAL_MEMORY_LIMIT", NULL },
        { TR, "SELECT length(replace(rpad('a', 1000000, 'b'), 'a', rpad('b', 100000, 'b'))), length(array_join(repeat('ab', 1000), ', '))", "1099999|3998", NULL },
        { TR, "SELECT array_join(repeat('x', 10000), rpad('b', 1000000, 'b'))", "!EXCEEDED_LOCAL_MEMORY_LIMIT", NULL },
        { TR, "SELECT split('abc', '')", "!INVALID_FUNCTION_ARGUMENT: The delimiter may not be the empty string", NULL },
        { TR, "SELECT strpos('high', 'ig'), position('g' IN 'high'), strpos('a', 'z'), replace('abcabc', 'b'), replace('abc', 'b', 'xx')", "2|3|0|acac|axxc", "bigint,bigint,bigint,varchar,varchar" },
        { TR, "SELECT trim('  a '), ltrim('  a'), rtrim('a  '), trim(LEADING 'x' FROM 'xxaxx'), trim(BOTH FROM ' b '), trim(U&'" BS "3000a" BS "0009')", "a|a|a|axx|b|a", NULL },
        { TR, "SELECT lpad('ab', 5, 'xy'), rpad('ab', 4, '-'), lpad('abcdef', 3, ' '), upper('aé'), lower('ÀB'), reverse('añb'), length('añb')", "xyxab|ab--|abc|AÉ|àb|bña|3", NULL },
        { TR, "SELECT chr(233), codepoint('é'), to_hex(to_utf8('a')), from_utf8(from_hex('61')), to_base64(to_utf8('hi')), from_utf8(from_base64('aGk='))", "é|233|61|a|aGk=|hi", NULL },
        { TR, "SELECT to_hex(md5(to_utf8('a'))), to_hex(sha256(to_utf8(''))), to_hex(sha1(to_utf8('a')))",
          "0CC175B9C0F1B6A831C399E269772661|E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855|86F7E437FAA5A7FCE15D1DDCB9EAEAEA377667B8", NULL },
        { TR, "SELECT md5('a')", "!TYPE_MISMATCH", NULL },
        { TR, "SELECT substr(to_hex(sha512(to_utf8('a'))), 1, 8), crc32(to_utf8('123456789'))", "1F40FC92|3421780262", "varchar,bigint" },
        { TR, "SELECT xxhash64(to_utf8('a'))", "!FUNCTION_NOT_FOUND", NULL },
        { TR, "SELECT json_extract_scalar('{\"a\":1.50,\"b\":[1e3,{\"c\":\"x" BS BS "u00e9" BS BS "n\"}],\"d\":null}', '$.a'), json_extract_scalar('{\"b\":[1e3,{\"c\":\"q\"}]}', '$.b[0]'), json_extract_scalar('{\"b\":[1e3,{\"c\":\"q\"}]}', '$.b[1].c'), json_extract_scalar('{\"b\":[1]}', '$.b[7]')", "1.50|1e3|q|NULL", NULL },
        { TR, "SELECT strrpos('abcabc', 'bc'), strrpos('abc', 'x'), split_to_map('a=1,b=2', ',', '=')['b'], width_bucket(5.0, 0.0, 10.0, 5)", "5|0|2|3", NULL },
        { TR, "SELECT regexp_like('1a 2b 14m', '" BS "d+b'), regexp_extract('1a 2b 14m', '" BS "d+'), regexp_extract('1a 2b', '(" BS "d+)([a-z]+)', 2), regexp_extract('x', '" BS "d')", "true|1|a|NULL", NULL },
        { TR, "SELECT regexp_extract_all('1a 2b 14m', '" BS "d+'), regexp_replace('1a 2b', '(" BS "d+)([ab]) ', '3c$2 '), regexp_replace('1a 2b', '[ab]'), regexp_count('1a 2b', '" BS "d'), regexp_split('1a 2b', '" BS "s*[a-z]+" BS "s*')",
          "[1, 2, 14]|3ca 2b|1 2|2|[1, 2, '']", NULL },
        { TR, "SELECT regexp_extract('caf" "\xc3\xa9 12', '" BS "d+'), regexp_replace('\xc3\xa9  x', '" BS "s+', '_'), regexp_like('abc', '" BS "bb')", "12|\xc3\xa9_x|false", NULL },
        { TR, "SELECT regexp_extract('caf\xc3\xa9', '" BS "w+')", "!NOT_SUPPORTED: this pattern over a text that is not ASCII", NULL },
        { TR, "SELECT regexp_like('\xc2\xa0', '" BS "s')", "!NOT_SUPPORTED", NULL },
        { TR, "SELECT regexp_like('a', '(?=a)')", "!NOT_SUPPORTED", NULL },
        { TR, "SELECT regexp_extract('ab', '(x)?b', 1)", "!NOT_SUPPORTED", NULL },
        { TR, "SELECT 'a" BS "b' LIKE 'a" BS "b', 'a%b' LIKE 'a#%b' ESCAPE '#', 'axb' LIKE 'a_b', 'A' LIKE 'a'", "true|true|true|false", NULL },
        { TR, "SELECT levenshtein_distance('kitten', 'sitting'), hamming_distance('abc', 'abd'), starts_with('abc', 'ab'), translate('abcd', 'ac', 'x')", "3|1|true|xbd", NULL },
        { TR, "SELECT format('%s is %d%%', 'x', 5), url_encode('a b&c~*'), url_decode('a+b%26')", "x is 5%|a+b%26c%7E*|a b&", NULL },
        { TR, "SELECT url_extract_host('http://u@ex.com:80/p/a?q=1#f'), url_extract_port('http://ex.com:80/'), url_extract_path('http://ex.com/p/a?q'), url_extract_query('http://ex.com/?q=1#f'), url_extract_fragment('http://e/#f'), url_extract_protocol('https://e/')",
          "ex.com|80|/p/a|q=1|f|https", NULL },
        { TR, "SELECT url_extract_parameter('http://e.com/p?ab=0&a=1&b=2#f', 'a'), url_extract_parameter('http://e.com/p?a=1', 'z'), url_extract_parameter('http://e.com/p?x=1&y', 'y')", "1|NULL|", NULL },
        { TR, "SELECT json_extract_scalar('{\"a\":{\"b\":[1,\"x\"]}}', '$.a.b[1]'), json_extract('{\"a\":{\"b\":1}}', '$.a'), json_extract_scalar('{\"a\":{}}', '$.a'), json_extract_scalar('nope', '$.a')", "x|{\"b\":1}|NULL|NULL", "varchar,json,varchar,varchar" },
        { TR, "SELECT json_array_length('[1,2]'), json_size('{\"a\":[1,2,3]}', '$.a'), json_size('{\"a\":{\"x\":1}}', '$.a'), json_format(json_parse('{\"a\": 1}')), json_extract_scalar('{\"a b\":true}', '$[\"a b\"]')", "2|3|1|{\"a\":1}|true", NULL },
        { TR, "SELECT json_format(json_parse('{\"b\": 1.50, \"a\": [1, {\"z\": 1, \"y\": null}]}')), json_format(CAST(MAP(ARRAY['b', 'a'], ARRAY[1, 2]) AS JSON))", "{\"a\":[1,{\"y\":null,\"z\":1}],\"b\":1.5}|{\"a\":2,\"b\":1}", NULL },
        { TR, "SELECT upper('straße'), reverse(U&'e" BS "0301x')", "STRAßE|x\xcc\x81" "e", NULL },
        { TR, "SELECT json_parse('{')", "!INVALID_FUNCTION_ARGUMENT: Cannot convert value to JSON", NULL },
        { TR, "SELECT upper(5)", "!TYPE_MISMATCH", NULL },
        { TR, "SELECT upper('a', 'b')", "!TYPE_MISMATCH: line 1:8: Unexpected parameters (varchar(1), varchar(1)) for function upper", NULL },
    };
    check(*state, cases, COUNT_OF(cases));
}

static void times(void **state)
{
    static const Case cases[] = {
        { TR, "SELECT current_date, typeof(current_timestamp), CAST(current_timestamp AS VARCHAR), typeof(localtimestamp)", "2023-11-14|timestamp(3) with time zone|2023-11-14 22:13:20.000 UTC|timestamp(3)", NULL },
        { TR, "SELECT DATE '2020-01-31' + INTERVAL '1' MONTH, DATE '2020-01-01' - INTERVAL '1' DAY, TIMESTAMP '2020-01-01 00:00:00' + INTERVAL '2' HOUR", "2020-02-29|2019-12-31|2020-01-01 02:00:00", "date,date,timestamp(3)" },
        { TR, "SELECT DATE '2020-01-01' + INTERVAL '1' HOUR", "!Cannot add hour, minutes or seconds to a date", NULL },
        { TR, "SELECT date_trunc('month', DATE '2020-05-17'), date_trunc('hour', TIMESTAMP '2020-05-17 10:20:30'), date_trunc('week', DATE '2020-05-17')", "2020-05-01|2020-05-17 10:00:00|2020-05-11", "date,timestamp(0),date" },
        { TR, "SELECT date_add('month', 1, DATE '2020-01-31'), date_add('day', -1, DATE '2020-03-01'), date_add('minute', 90, TIMESTAMP '2020-01-01 00:00:00'), date_add('quarter', 1, DATE '2020-01-01'), date_add('week', 2, DATE '2020-01-01')",
          "2020-02-29|2020-02-29|2020-01-01 01:30:00|2020-04-01|2020-01-15", NULL },
        { TR, "SELECT date_diff('day', DATE '2020-03-01', DATE '2020-03-02'), date_diff('month', DATE '2020-01-31', DATE '2020-02-29'), date_diff('hour', TIMESTAMP '2020-03-01 00:30:00', TIMESTAMP '2020-03-01 02:29:00'), date_diff('day', DATE '2020-03-02', DATE '2020-03-01')", "1|1|1|-1", "bigint,bigint,bigint,bigint" },
        { TR, "SELECT date_add('hour', 1, DATE '2020-01-01')", "!'hour' is not a valid DATE field", NULL },
        { TR, "SELECT date_format(TIMESTAMP '2020-01-05 15:04:05.123', '%Y-%m-%d %H:%i:%s %p %W %b %e %f'), date_format(DATE '2020-01-05', '%y/%c/%e %j %T')", "2020-01-05 15:04:05 PM Sunday Jan 5 123000|20/1/5 005 00:00:00", NULL },
        { TR, "SELECT date_format(DATE '2020-01-05', '%D')", "!%D not supported in date format string", NULL },
        { TR, "SELECT date_parse('2020-01-05 10:20', '%Y-%m-%d %H:%i'), date_parse('05/01/2020', '%d/%m/%Y')", "2020-01-05 10:20:00|2020-01-05 00:00:00", "timestamp(3),timestamp(3)" },
        { TR, "SELECT date_parse('2020-01-01 00:00:00.123456', '%Y-%m-%d %H:%i:%s.%f')", "2020-01-01 00:00:00.123", NULL },
        { TR, "SELECT date_parse('69', '%y')", "!NOT_SUPPORTED", NULL },
        { TR, "SELECT date_parse('x', '%Y')", "!INVALID_FUNCTION_ARGUMENT: Invalid format", NULL },
        { TR, "SELECT format_datetime(TIMESTAMP '2020-01-05 15:04:05', 'yyyy-MM-dd''T''HH:mm:ss'), CAST(parse_datetime('2020-01-05', 'yyyy-MM-dd') AS VARCHAR)", "2020-01-05T15:04:05|2020-01-05 00:00:00.000 UTC", NULL },
        { TR, "SELECT CAST(from_unixtime(1.5) AS VARCHAR), to_unixtime(TIMESTAMP '1970-01-01 00:00:01.5'), CAST(from_unixtime(0, 'Europe/Rome') AS VARCHAR)", "1970-01-01 00:00:01.500 UTC|1.5|1970-01-01 01:00:00.000 Europe/Rome", NULL },
        { TR, "SELECT CAST(from_iso8601_timestamp('2020-05-11T11:15:05.123Z') AS VARCHAR), from_iso8601_date('2020-05-11'), to_iso8601(DATE '2020-05-11'), to_iso8601(TIMESTAMP '2020-05-11 10:00:00.500')", "2020-05-11 11:15:05.123 UTC|2020-05-11|2020-05-11|2020-05-11T10:00:00.500", NULL },
        { TR, "SELECT from_iso8601_timestamp('2020-05-11T11:15:05+02:00')", "!NOT_SUPPORTED", NULL },
        { TR, "SELECT year(d), month(d), day(d), quarter(d), week(d), day_of_week(d), dow(d), doy(d), yow(d), EXTRACT(YEAR FROM d), extract(day_of_year FROM d) FROM (VALUES DATE '2021-01-03') t(d)", "2021|1|3|1|53|7|7|3|2020|2021|3", NULL },
        { TR, "SELECT hour(t), minute(t), second(t), millisecond(t), last_day_of_month(t) FROM (VALUES TIMESTAMP '2020-02-05 10:20:30.456') x(t)", "10|20|30|456|2020-02-29", "bigint,bigint,bigint,bigint,date" },
        { TR, "SELECT hour(DATE '2020-01-01')", "!TYPE_MISMATCH", NULL },
        { TR, "SELECT CAST(TIMESTAMP '2020-01-01 00:00:00' AT TIME ZONE 'America/New_York' AS VARCHAR), hour(TIMESTAMP '2020-07-01 12:00:00' AT TIME ZONE 'America/New_York')", "2019-12-31 19:00:00 America/New_York|8", NULL },
        { TR, "SELECT CAST(TIMESTAMP '2020-01-01 00:00:00 America/New_York' AS VARCHAR), CAST(TIMESTAMP '2020-01-01 00:00:00 America/New_York' AT TIME ZONE 'UTC' AS VARCHAR)", "2020-01-01 00:00:00 America/New_York|2020-01-01 05:00:00 UTC", NULL },
        { TR, "SELECT CAST(date_trunc('day', t AT TIME ZONE 'America/New_York') AS DATE), CAST(t AT TIME ZONE 'America/New_York' AS DATE) FROM (VALUES TIMESTAMP '2020-01-01 00:00:00') x(t)", "2019-12-31|2019-12-31", NULL },
        { TR, "SELECT CAST(date_trunc('hour', TIMESTAMP '2024-11-03 06:30:00' AT TIME ZONE 'America/New_York') AT TIME ZONE 'UTC' AS VARCHAR), CAST(date_add('hour', 1, TIMESTAMP '2024-11-03 05:30:00' AT TIME ZONE 'America/New_York') AS VARCHAR)",
          "2024-11-03 06:00:00 UTC|2024-11-03 01:30:00 America/New_York", NULL },
        { TR, "SELECT CAST(date_add('day', 1, TIMESTAMP '2024-11-02 16:00:00' AT TIME ZONE 'America/New_York') AT TIME ZONE 'UTC' AS VARCHAR), CAST(date_trunc('day', TIMESTAMP '2024-11-03 17:00:00' AT TIME ZONE 'America/New_York') AT TIME ZONE 'UTC' AS VARCHAR)",
          "2024-11-03 17:00:00 UTC|2024-11-03 04:00:00 UTC", NULL },
        { TR, "SELECT t AT TIME ZONE 'America/New_York' FROM (VALUES TIMESTAMP '2020-01-01 00:00:00') x(t)", "!NOT_SUPPORTED", NULL },
        { TR, "SELECT TIMESTAMP '2020-01-02 00:00:00' - TIMESTAMP '2020-01-01 12:00:00', DATE '2020-01-03' - DATE '2020-01-01'", "12:00:00|2 days", NULL },
        { TR, "SELECT DATE '2020-01-01' < TIMESTAMP '2020-01-01 00:00:01', now() > TIMESTAMP '2020-01-01 00:00:00'", "true|true", NULL },
        { TR, "SELECT sequence(DATE '2020-01-01', DATE '2020-01-03'), sequence(DATE '2020-01-01', DATE '2020-03-01', INTERVAL '1' MONTH)", "[2020-01-01, 2020-01-02, 2020-01-03]|[2020-01-01, 2020-02-01, 2020-03-01]", "array(date),array(date)" },
        { TR, "SELECT INTERVAL '1' DAY * 3, INTERVAL -'2' HOUR, INTERVAL '1-2' YEAR TO MONTH", "3 days|-02:00:00|1 year 2 months", NULL },
    };
    check(*state, cases, COUNT_OF(cases));
}

static void nested(void **state)
{
    static const Case cases[] = {
        { TR, "SELECT cardinality(ARRAY[1, 2]), element_at(ARRAY[1, 2], -1), element_at(ARRAY[1], 5), ARRAY[1, 2][2], contains(ARRAY[1, NULL], 2), contains(ARRAY[1, 2], 2)", "2|2|NULL|2|NULL|true", "bigint,integer,integer,integer,boolean,boolean" },
        { TR, "SELECT ARRAY[1][2]", "!INVALID_FUNCTION_ARGUMENT: Array subscript must be less than or equal to array length", NULL },
        { TR, "SELECT ARRAY[1][0]", "!INVALID_FUNCTION_ARGUMENT: SQL array indices start at 1", NULL },
        { TR, "SELECT array_join(ARRAY[1, NULL, 2], ','), array_join(ARRAY[1, NULL], ',', 'x'), array_distinct(ARRAY[2, NULL, 1, 2, NULL]), array_sort(ARRAY[3, NULL, 1])", "1,2|1,x|[2, NULL, 1]|[1, 3, NULL]", NULL },
        { TR, "SELECT array_max(ARRAY[1, 3]), array_max(ARRAY[1, NULL]), array_min(ARRAY[2, 1]), array_position(ARRAY[5, 6], 6), array_position(ARRAY[5], 1), array_remove(ARRAY[1, 2, 1], 1)", "3|NULL|1|2|0|[2]", NULL },
        { TR, "SELECT array_intersect(ARRAY[1, 2, 2], ARRAY[2, 3]), array_union(ARRAY[1, 1], ARRAY[2]), array_except(ARRAY[1, 2], ARRAY[2]), arrays_overlap(ARRAY[1], ARRAY[2, NULL]), arrays_overlap(ARRAY[1], ARRAY[1])", "[2]|[1, 2]|[1]|NULL|true", NULL },
        { TR, "SELECT slice(ARRAY[1, 2, 3, 4], 2, 2), slice(ARRAY[1, 2, 3], -2, 2), slice(ARRAY[1], 3, 1), slice(ARRAY[1, 2], NULL, 1), flatten(ARRAY[ARRAY[1], ARRAY[2, 3]]), repeat('a', 2)", "[2, 3]|[2, 3]|[]|NULL|[1, 2, 3]|[a, a]", NULL },
        { TR, "SELECT sequence(1, 3), sequence(3, 1), sequence(1, 10, 4), reverse(ARRAY[1, 2]), concat(ARRAY[1], ARRAY[2], 3), ARRAY[1] || 2", "[1, 2, 3]|[3, 2, 1]|[1, 5, 9]|[2, 1]|[1, 2, 3]|[1, 2]", NULL },
        { TR, "SELECT sequence(1, 100000)", "!must not have more than 10000 entries", NULL },
        { TR, "SELECT transform(ARRAY[1, 2], x -> x * 10), filter(ARRAY[1, 2, 3], x -> x > 1), any_match(ARRAY[1, 2], x -> x = 2), all_match(ARRAY[1, NULL], x -> x = 1), none_match(ARRAY[1], x -> x = 2)", "[10, 20]|[2, 3]|true|NULL|true", NULL },
        { TR, "SELECT reduce(ARRAY[1, 2, 3], 0, (s, x) -> s + x, s -> s * 10), reduce(ARRAY[BIGINT '5'], 1, (s, x) -> s + x, s -> s)", "60|6", "integer,bigint" },
        { TR, "SELECT transform(ARRAY[1, 2], x -> x + id) FROM emp WHERE id = 1", "[2, 3]", NULL },
        { TR, "SELECT zip_with(ARRAY[1, 2], ARRAY[10, 20], (x, y) -> x + y), zip_with(ARRAY[1, 2], ARRAY['a'], (x, y) -> y), trim_array(ARRAY[1, 2, 3], 1)", "[11, 22]|[a, NULL]|[1, 2]", NULL },
        { TR, "SELECT zip(ARRAY[1, 2], ARRAY['a'])", "[{'field0': 1, 'field1': a}, {'field0': 2, 'field1': NULL}]", NULL },
        { TR, "SELECT MAP(ARRAY['a', 'b'], ARRAY[1, 2])['b'], element_at(MAP(ARRAY['a'], ARRAY[1]), 'z'), cardinality(MAP(ARRAY['a'], ARRAY[1])), map_keys(MAP(ARRAY['a'], ARRAY[1])), map_values(MAP(ARRAY['a'], ARRAY[1]))", "2|NULL|1|[a]|[1]", NULL },
        { TR, "SELECT MAP(ARRAY['a'], ARRAY[1])['z']", "!INVALID_FUNCTION_ARGUMENT: Key not present in map: z", NULL },
        { TR, "SELECT map_filter(MAP(ARRAY['a', 'b'], ARRAY[1, 2]), (k, v) -> v > 1 AND k <> 'z'), transform_values(MAP(ARRAY['a'], ARRAY[1]), (k, v) -> k || CAST(v AS VARCHAR)), transform_keys(MAP(ARRAY['a'], ARRAY[1]), (k, v) -> v + 1)", "{b=2}|{a=a1}|{2=1}", NULL },
        { TR, "SELECT map_concat(MAP(ARRAY['a'], ARRAY[1]), MAP(ARRAY['a'], ARRAY[2])), map_entries(MAP(ARRAY['a'], ARRAY[1])), map_from_entries(ARRAY[ROW('x', 1)])", "{a=2}|[{'field0': a, 'field1': 1}]|{x=1}", NULL },
        { TR, "SELECT array_agg(id ORDER BY id DESC), map_agg(name, id)['Bob'], multimap_agg(dept, name)[10], histogram(dept) FROM emp", "[4, 3, 2, 1]|2|[Ann, Bob]|{10=2, 20=1}", NULL },
        { TR, "SELECT map_agg(dept, id)[10], cardinality(map_agg(dept, id)) FROM emp", "1|2", NULL },
        { TR, "SELECT ROW(1, 'a')[2], r.x, r FROM (SELECT CAST(ROW(5, 'q') AS ROW(x INTEGER, y VARCHAR)) AS r)", "a|5|{'x': 5, 'y': q}", NULL },
        { TR, "SELECT s.x, a[1], m['u'] FROM nest WHERE k = 1", "5|10|1", NULL },
        { TR, "SELECT k, e FROM nest LEFT JOIN UNNEST(a) AS t(e) ON true ORDER BY 1, 2", "1|10;1|20;1|NULL;2|NULL;3|NULL", NULL },
    };
    check(*state, cases, COUNT_OF(cases));
}

/* ---- statements -------------------------------------------------------------------------------------------------------- */

typedef struct StatementCase { const char *sql; StmtKind kind; StmtClass class; const char *substatement; } StatementCase;

/* Parsed, of that kind and class; a class of -1: an error that holds `substatement`. */
static void statements(void **state)
{
    static const StatementCase cases[] = {
        { "SELECT 1", ST_QUERY, CLASS_DML, "SELECT" },
        { "(SELECT 1) UNION ALL (SELECT 2)", ST_QUERY, CLASS_DML, "SELECT" },
        { "INSERT INTO db.t (a, b) VALUES (1, 'x')", ST_INSERT, CLASS_DML, "INSERT" },
        { "INSERT INTO \"db\".\"t\" SELECT * FROM s", ST_INSERT, CLASS_DML, "INSERT" },
        { "DELETE FROM t WHERE a = 1", ST_DELETE, CLASS_DML, "DELETE" },
        { "UPDATE t SET a = a + 1 WHERE b IN (1, 2)", ST_UPDATE, CLASS_DML, "UPDATE" },
        { "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.d THEN DELETE WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a)", ST_MERGE, CLASS_DML, "MERGE" },
        { "CREATE TABLE db.t (id bigint, name string, d decimal(10,2), tags array<string>, m map<string,int>, s struct<a:int,b:string>, ts timestamp) "
          "COMMENT 'c' PARTITIONED BY (day(ts), bucket(16, id), `name`) LOCATION 's3://b/p/' TBLPROPERTIES ('table_type'='ICEBERG', \"format\"='parquet', 'write_compression'='zstd')", ST_CREATE_TABLE, CLASS_DDL, "CREATE_TABLE" },
        { "CREATE TABLE IF NOT EXISTS `db`.`t` (`id` bigint COMMENT 'it''s') TBLPROPERTIES ('table_type'='iceberg')", ST_CREATE_TABLE, CLASS_DDL, "CREATE_TABLE" },
        { "CREATE TABLE t WITH (table_type = 'ICEBERG', is_external = false, location = 's3://b/x/', format = 'PARQUET', partitioning = ARRAY['day(ts)', 'bucket(id, 4)']) AS SELECT 1 AS id", ST_CREATE_TABLE, CLASS_DML, "CREATE_TABLE_AS_SELECT" },
        { "CREATE EXTERNAL TABLE t (a int, b string) PARTITIONED BY (y int) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' ESCAPED BY '\\\\' LINES TERMINATED BY '\\n' STORED AS TEXTFILE LOCATION 's3://b/x/' TBLPROPERTIES ('skip.header.line.count'='1')", ST_CREATE_TABLE, CLASS_DDL, "CREATE_TABLE" },
        { "CREATE EXTERNAL TABLE t (a int) ROW FORMAT SERDE 'org.openx.data.jsonserde.JsonSerDe' WITH SERDEPROPERTIES ('ignore.malformed.json'='true') LOCATION 's3://b/x/'", ST_CREATE_TABLE, CLASS_DDL, "CREATE_TABLE" },
        { "CREATE EXTERNAL TABLE t (a int) STORED AS INPUTFORMAT 'x' OUTPUTFORMAT 'y' LOCATION 's3://b/x/'", ST_CREATE_TABLE, CLASS_DDL, "CREATE_TABLE" },
        { "CREATE VIEW v AS SELECT \"a\" FROM t", ST_CREATE_VIEW, CLASS_DDL, "CREATE_VIEW" },
        { "CREATE OR REPLACE VIEW db.v (x, y) AS SELECT 1, 2", ST_CREATE_VIEW, CLASS_DDL, "CREATE_VIEW" },
        { "DROP VIEW IF EXISTS v", ST_DROP_VIEW, CLASS_DDL, "DROP_VIEW" },
        { "DROP TABLE IF EXISTS `db`.`t`", ST_DROP_TABLE, CLASS_DDL, "DROP_TABLE" },
        { "CREATE DATABASE IF NOT EXISTS d COMMENT 'x' LOCATION 's3://b/' WITH DBPROPERTIES ('a'='b')", ST_CREATE_NAMESPACE, CLASS_DDL, "CREATE_DATABASE" },
        { "CREATE SCHEMA d", ST_CREATE_NAMESPACE, CLASS_DDL, "CREATE_DATABASE" },
        { "DROP DATABASE d CASCADE", ST_DROP_NAMESPACE, CLASS_DDL, "DROP_DATABASE" },
        { "ALTER DATABASE d SET DBPROPERTIES ('a'='b')", ST_ALTER_NAMESPACE, CLASS_DDL, "ALTER_DATABASE_SET_DBPROPERTIES" },
        { "ALTER TABLE t ADD COLUMNS (a int, `b` string COMMENT 'c')", ST_ALTER_TABLE, CLASS_DDL, "ALTER_TABLE_ADD_COLUMN" },
        { "ALTER TABLE db.t DROP COLUMN a", ST_ALTER_TABLE, CLASS_DDL, "ALTER_TABLE_DROP_COLUMN" },
        { "ALTER TABLE t CHANGE COLUMN a b bigint COMMENT 'c' AFTER d", ST_ALTER_TABLE, CLASS_DDL, "ALTER_TABLE_CHANGE_COLUMN" },
        { "ALTER TABLE t SET TBLPROPERTIES ('write_compression'='snappy')", ST_ALTER_TABLE, CLASS_DDL, "ALTER_TABLE_SET_TBLPROPERTIES" },
        { "ALTER TABLE t UNSET TBLPROPERTIES ('x')", ST_ALTER_TABLE, CLASS_DDL, "ALTER_TABLE_SET_TBLPROPERTIES" },
        { "ALTER TABLE t RENAME TO db2.u", ST_ALTER_TABLE, CLASS_DDL, "ALTER_TABLE_RENAME" },
        { "SHOW TABLES IN db 'a*'", ST_SHOW, CLASS_UTILITY, "SHOW_TABLES" },
        { "SHOW DATABASES LIKE 'x*'", ST_SHOW, CLASS_UTILITY, "SHOW_DATABASES" },
        { "SHOW SCHEMAS", ST_SHOW, CLASS_UTILITY, "SHOW_DATABASES" },
        { "SHOW COLUMNS IN t IN db", ST_SHOW, CLASS_UTILITY, "SHOW_COLUMNS" },
        { "SHOW COLUMNS FROM db.t", ST_SHOW, CLASS_UTILITY, "SHOW_COLUMNS" },
        { "SHOW CREATE TABLE `db`.`t`", ST_SHOW, CLASS_UTILITY, "SHOW_CREATE_TABLE" },
        { "SHOW CREATE VIEW v", ST_SHOW, CLASS_UTILITY, "SHOW_CREATE_VIEW" },
        { "SHOW VIEWS IN db", ST_SHOW, CLASS_UTILITY, "SHOW_VIEWS" },
        { "SHOW TBLPROPERTIES t ('a')", ST_SHOW, CLASS_UTILITY, "SHOW_TBLPROPERTIES" },
        { "SHOW PARTITIONS t", ST_SHOW, CLASS_UTILITY, "SHOW_PARTITIONS" },
        { "DESCRIBE EXTENDED db.t", ST_DESCRIBE, CLASS_UTILITY, "DESCRIBE_TABLE" },
        { "DESC t", ST_DESCRIBE, CLASS_UTILITY, "DESCRIBE_TABLE" },
        { "OPTIMIZE t REWRITE DATA USING BIN_PACK WHERE day = DATE '2020-01-01'", ST_OPTIMIZE, CLASS_DML, "OPTIMIZE" },
        { "VACUUM db.t", ST_VACUUM, CLASS_DML, "VACUUM" },
        { "EXPLAIN SELECT 1", ST_EXPLAIN, CLASS_UTILITY, "EXPLAIN" },
        { "EXPLAIN (FORMAT json, TYPE LOGICAL) SELECT 1", ST_EXPLAIN, CLASS_UTILITY, "EXPLAIN" },
        { "EXPLAIN ANALYZE SELECT 1", ST_EXPLAIN, CLASS_UTILITY, "EXPLAIN" },
        { "PREPARE q FROM SELECT * FROM t WHERE a = ? AND b = ?", ST_PREPARE, CLASS_UTILITY, "PREPARE" },
        { "EXECUTE q USING 1, 'x'", ST_EXECUTE, CLASS_DML, "EXECUTE" },
        { "DEALLOCATE PREPARE q", ST_DEALLOCATE, CLASS_UTILITY, "DEALLOCATE" },
        { "UNLOAD (SELECT 1) TO 's3://b/x/' WITH (format = 'PARQUET', partitioned_by = ARRAY['a'])", ST_UNLOAD, CLASS_DML, "UNLOAD" },
        { "MSCK REPAIR TABLE `t`", ST_REPAIR_TABLE, CLASS_DDL, "MSCK_REPAIR_TABLE" },
        { "CREATE MATERIALIZED VIEW v AS SELECT 1", 0, -1, "NOT_SUPPORTED: line 1:1: materialized views are made" },
        { "REFRESH MATERIALIZED VIEW v", 0, -1, "NOT_SUPPORTED: line 1:1: REFRESH" },
        { "DROP MATERIALIZED VIEW v", 0, -1, "NOT_SUPPORTED" },
        { "CREATE TABLE t (a int)", 0, -1, "only Iceberg tables can be made" },
        { "CREATE TABLE t AS SELECT 1 AS a", ST_CREATE_TABLE, CLASS_DML, "CREATE_TABLE_AS_SELECT" },
        { "CREATE TABLE t (a int) TBLPROPERTIES ('table_type'='ICEBERG', 'format'='orc')", 0, -1, "PARQUET only" },
        { "CREATE TABLE t (a char(3)) TBLPROPERTIES ('table_type'='ICEBERG')", 0, -1, "type char is not supported" },
        { "CREATE VIEW v AS SELECT a, count(*) FROM t", 0, -1, "COLUMN_NAME_NOT_SPECIFIED: line 1:28: Column name not specified at position 2" },
        { "CREATE TABLE t WITH (table_type = 'ICEBERG', location = 's3://b/x/') AS SELECT 1", 0, -1, "Column name not specified at position 1" },
        { "TRUNCATE TABLE t", 0, -1, "NOT_SUPPORTED: line 1:1: TRUNCATE" },
        { "SELEC 1", 0, -1, "line 1:1: mismatched input 'SELEC'. Expecting: 'ALTER'" },
        { "ALTER TABLE t ADD PARTITION (y = 1)", 0, -1, "NOT_SUPPORTED" },
        { "COPY t TO '/tmp/x'", 0, -1, "not allowed" },
        { "ATTACH 'x'", 0, -1, "not allowed" },
        { "SELECT a::int FROM t", 0, -1, "mismatched input" },
        { "SELECT 1 ~ 2", 0, -1, "mismatched input '~'" },
    };
    int failed = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        const StatementCase *c = &cases[i];
        StmtVec v = { 0 };
        Error err = { 0 };
        Str sub = S("");
        Status s = sql_parse(a, TR, str_c(c->sql), &v, &err);
        bool good = (int)c->class < 0 ? s != OK && strstr(err.message, c->substatement)
                                      : s == OK && v.n == 1 && v.p[0]->kind == c->kind && sql_stmt_class(v.p[0], &sub) == c->class && str_eq(sub, str_c(c->substatement));
        if (good)
            continue;
        printf("  %s\n    gave %s, " STR_FMT "\n", c->sql, s == OK ? "a statement" : err.message, STR_ARG(sub));
        failed++;
    }
    if (failed)
        fail_msg("%d of %zu statements", failed, COUNT_OF(cases));
}

static Stmt *parsed(Arena *a, const char *sql)
{
    StmtVec v = { 0 };
    Error err = { 0 };

    assert_ok(sql_parse(a, TR, str_c(sql), &v, &err), &err);
    assert_int_equal(v.n, 1);
    return v.p[0];
}

static void shapes(void **state)
{
    CLEANUP(arena_destroyp) Arena *a = arena_create();
    Stmt *s = parsed(a, "CREATE TABLE t WITH (table_type = 'ICEBERG', location = 's3://b/x/', format = 'PARQUET', partitioning = ARRAY['day(ts)', 'bucket(id, 4)']) AS SELECT 1 AS id");

    (void)state;
    assert_int_equal(s->partitions.n, 2);
    assert_str(s->partitions.p[0].transform, "day");
    assert_int_equal(s->partitions.p[1].width, 4);
    assert_str(s->location, "s3://b/x/");
    assert_str(props_get(&s->props, S("write.format.default"), S("")), "parquet");
    assert_int_equal(s->props.n, 1);
    s = parsed(a, "CREATE EXTERNAL TABLE t (a int) PARTITIONED BY (y int) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t' LINES TERMINATED BY '\\n' STORED AS TEXTFILE LOCATION 's3://b/x/'");
    assert_non_null(s->hive);
    assert_str(props_get(&s->hive->serde_props, S("field.delim"), S("")), "\t");
    assert_str(props_get(&s->hive->serde_props, S("line.delim"), S("")), "\n");
    assert_str(s->hive->stored_as, "textfile");
    assert_int_equal(s->hive->partition_columns.n, 1);
    s = parsed(a, "ALTER TABLE t CHANGE COLUMN a b bigint");
    assert_int_equal(s->actions.n, 2);
    assert_int_equal(s->actions.p[0].kind, AT_RENAME_COLUMN);
    s = parsed(a, "PREPARE q FROM SELECT ? + ?");
    assert_int_equal(s->inner->nparams, 2);
    assert_str(s->query_text, "SELECT ? + ?");
    s = parsed(a, "SHOW COLUMNS IN t IN db");
    assert_int_equal(s->name.n, 2);
    assert_str(s->name.p[0], "db");
}

/* ---- every function of the list, called once -------------------------------------------------------------------------------- */

static const char *sample(char letter)
{
    switch (letter) {
    case 's': return "'2020-01-01'";
    case 'i': case 'l': return "2";
    case 'd': return "0.5";
    case 'n': return "1.5";
    case 'b': return "true";
    case 'D': return "DATE '2020-01-01'";
    case 't': return "TIMESTAMP '2020-01-01 10:00:00'";
    case 'B': return "X'61'";
    case 'j': return "JSON '1'";
    case 'V': return "INTERVAL '1' DAY";
    case 'a': return "ARRAY[1, 2]";
    case 'm': return "MAP(ARRAY['a'], ARRAY[1])";
    default: return "1";
    }
}

/* Arguments where the letters do not say enough. */
static const char *special(const char *name)
{
    static const char *const rows[][2] = {
        { "concat", "'a', 'b'" }, { "concat_ws", "',', 'a'" }, { "length", "'a'" }, { "reverse", "'a'" }, { "substr", "'abc', 2" }, { "substring", "'abc', 2, 1" }, { "format", "'%s', 1" },
        { "from_hex", "'61'" }, { "from_base64", "'aGk='" }, { "from_base64url", "'aGk='" }, { "codepoint", "'a'" }, { "regexp_extract", "'ab', '(a)b', 1" }, { "regexp_extract_all", "'ab', 'a'" },
        { "url_extract_protocol", "'http://e/'" }, { "url_extract_host", "'http://e/'" }, { "url_extract_port", "'http://e/'" }, { "url_extract_path", "'http://e/'" }, { "url_extract_query", "'http://e/'" },
        { "url_extract_fragment", "'http://e/'" }, { "truncate", "1.5" }, { "date_trunc", "'day', DATE '2020-01-01'" }, { "date_add", "'day', 1, DATE '2020-01-01'" },
        { "date_diff", "'day', DATE '2020-01-01', DATE '2020-01-02'" }, { "date", "'2020-01-01'" }, { "date_format", "DATE '2020-01-01', '%Y'" }, { "date_parse", "'2020', '%Y'" },
        { "format_datetime", "DATE '2020-01-01', 'yyyy'" }, { "parse_datetime", "'2020', 'yyyy'" }, { "from_unixtime", "1" }, { "at_timezone", "now(), 'UTC'" },
        { "with_timezone", "TIMESTAMP '2020-01-01 00:00:00', 'UTC'" }, { "year", "DATE '2020-01-01'" }, { "extract", NULL }, { "json_extract", "'{}', '$.a'" }, { "json_extract_scalar", "'{}', '$.a'" },
        { "json_size", "'{}', '$.a'" }, { "json_array_length", "'[]'" }, { "json_parse", "'1'" }, { "is_json_scalar", "'1'" }, { "cardinality", "ARRAY[1]" }, { "element_at", "ARRAY[1], 1" },
        { "array_join", "ARRAY['a'], ','" }, { "array_intersect", "ARRAY[1], ARRAY[1]" }, { "array_except", "ARRAY[1], ARRAY[1]" }, { "array_union", "ARRAY[1], ARRAY[1]" },
        { "arrays_overlap", "ARRAY[1], ARRAY[1]" }, { "sequence", "1, 3" }, { "flatten", "ARRAY[ARRAY[1]]" }, { "zip", "ARRAY[1], ARRAY['a']" }, { "transform", "ARRAY[1], x -> x" },
        { "filter", "ARRAY[1], x -> true" }, { "any_match", "ARRAY[1], x -> true" }, { "all_match", "ARRAY[1], x -> true" }, { "none_match", "ARRAY[1], x -> true" },
        { "reduce", "ARRAY[1], 0, (s, x) -> s + x, s -> s" }, { "map_from_entries", "ARRAY[ROW('a', 1)]" }, { "map_concat", "MAP(ARRAY['a'], ARRAY[1]), MAP(ARRAY['b'], ARRAY[1])" },
        { "map_filter", "MAP(ARRAY['a'], ARRAY[1]), (k, v) -> true" }, { "transform_keys", "MAP(ARRAY['a'], ARRAY[1]), (k, v) -> k" }, { "transform_values", "MAP(ARRAY['a'], ARRAY[1]), (k, v) -> v" },
        { "min", "1" }, { "max", "1" }, { "approx_percentile", "1, 0.5" }, { "grouping", NULL }, { "fail", NULL }, { "lag", "1" }, { "lead", "1" }, { "try", "1 / 0" }, { "map", "ARRAY['a'], ARRAY[1]" },
        { "split_to_map", "'a=1', ',', '='" }, { "url_extract_parameter", "'http://e/?a=1', 'a'" }, { "zip_with", "ARRAY[1], ARRAY[2], (x, y) -> x" }, { "width_bucket", "1, 0, 2, 4" }, { "from_iso8601_timestamp", "'2020-01-01T00:00:00Z'" }, { "last_day_of_month", "DATE '2020-01-01'" }, { "levenshtein_distance", "'a', 'b'" }, { "hamming_distance", "'a', 'b'" },
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i][0], name) == 0)
            return rows[i][1] ? rows[i][1] : "";
    return NULL;
}

static void every_function(void **state)
{
    Fixture *f = *state;
    int failed = 0, ran = 0;

    for (size_t i = 0; i < trino_func_count(); i++) {
        CLEANUP(arena_destroyp) Arena *a = arena_create();
        const FuncSpec *s = trino_func_at(i);
        const char *args = special(s->name);
        bool part = s->canonical && strcmp(s->canonical, "time_part") == 0;
        StrBuf b = sb_new(a);
        Str rows, types;
        Error err = { 0 };
        size_t n = strlen(s->args), want = s->max > 0 ? (size_t)s->max : s->max < 0 ? (size_t)s->min : 0;
        if ((args && !*args) || strncmp(s->name, "trim_", 5) == 0 || strncmp(s->name, "current_", 8) == 0)
            continue;
        sb_fmt(&b, "SELECT %s(", s->name);
        if (part)
            sb_addc(&b, strncmp(s->name, "timezone", 8) == 0 ? "now()" : "TIMESTAMP '2020-01-01 10:00:00'");
        else if (args)
            sb_addc(&b, args);
        for (size_t k = 0; !args && !part && k < want; k++)
            sb_fmt(&b, "%s%s", k ? ", " : "", sample(s->args[k < n && s->args[k] != '*' ? k : n - 2]));
        sb_addc(&b, s->class == FN_WINDOW ? ") OVER (ORDER BY id) FROM emp" : ")");
        if (strcmp(s->name, "localtimestamp") == 0)
            continue;
        ran++;
        if (run(f, a, TR, sb_str(&b).p, &rows, &types, &err) == OK)
            continue;
        printf("  %s\n    %s\n", sb_str(&b).p, err.message);
        failed++;
    }
    assert_true(ran > 190);
    if (failed)
        fail_msg("%d of %d functions", failed, ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries), cmocka_unit_test(numbers), cmocka_unit_test(casts), cmocka_unit_test(texts), cmocka_unit_test(times), cmocka_unit_test(nested),
        cmocka_unit_test(statements), cmocka_unit_test(shapes), cmocka_unit_test(every_function),
    };
    return cmocka_run_group_tests_name("trino", tests, set_up, tear_down);
}
