/* SPDX-License-Identifier: Apache-2.0 */
/* pgcatalog_static.c - what is the same for every session: built-in types and their functions, encodings, access methods.
 *
 * Numbers and names are PostgreSQL's own (its pg_*.dat): clients know them by heart. */
#include "service/pgcatalog_int.h"

#define TABLE(name, body) "CREATE OR REPLACE TABLE " name " AS " body

/* oid, name, length, by value, kind, category, preferred, element, array, input, output, receive, send, align, storage, collation, long name */
#define TYPES \
    "(16,'bool',1,true,'b','B',true,0,1000,1242,1243,2436,2437,'c','p',0,'boolean'), " \
    "(17,'bytea',-1,false,'b','U',false,0,1001,1244,31,2412,2413,'i','x',0,'bytea'), " \
    "(18,'char',1,true,'b','Z',false,0,1002,1245,33,2434,2435,'c','p',0,'\"char\"'), " \
    "(19,'name',64,false,'b','S',false,18,1003,34,35,2422,2423,'c','p',950,'name'), " \
    "(20,'int8',8,true,'b','N',false,0,1016,460,461,2408,2409,'d','p',0,'bigint'), " \
    "(21,'int2',2,true,'b','N',false,0,1005,38,39,2404,2405,'s','p',0,'smallint'), " \
    "(22,'int2vector',-1,false,'b','A',false,21,1006,40,41,2410,2411,'i','p',0,'int2vector'), " \
    "(23,'int4',4,true,'b','N',false,0,1007,42,43,2406,2407,'i','p',0,'integer'), " \
    "(24,'regproc',4,true,'b','N',false,0,1008,44,45,2444,2445,'i','p',0,'regproc'), " \
    "(25,'text',-1,false,'b','S',true,0,1009,46,47,2414,2415,'i','x',100,'text'), " \
    "(26,'oid',4,true,'b','N',true,0,1028,1798,1799,2418,2419,'i','p',0,'oid'), " \
    "(27,'tid',6,false,'b','U',false,0,1010,48,49,2438,2439,'s','p',0,'tid'), " \
    "(28,'xid',4,true,'b','U',false,0,1011,50,51,2440,2441,'i','p',0,'xid'), " \
    "(29,'cid',4,true,'b','U',false,0,1012,52,53,2442,2443,'i','p',0,'cid'), " \
    "(30,'oidvector',-1,false,'b','A',false,26,1013,54,55,2420,2421,'i','p',0,'oidvector'), " \
    "(114,'json',-1,false,'b','U',false,0,199,321,322,323,324,'i','x',0,'json'), " \
    "(700,'float4',4,true,'b','N',false,0,1021,200,201,2424,2425,'i','p',0,'real'), " \
    "(701,'float8',8,true,'b','N',true,0,1022,214,215,2426,2427,'d','p',0,'double precision'), " \
    "(705,'unknown',-2,false,'p','X',false,0,0,109,110,2416,2417,'c','p',0,'unknown'), " \
    "(790,'money',8,true,'b','N',false,0,791,886,887,2492,2493,'d','p',0,'money'), " \
    "(1042,'bpchar',-1,false,'b','S',false,0,1014,1044,1045,2430,2431,'i','x',100,'character'), " \
    "(1043,'varchar',-1,false,'b','S',false,0,1015,1046,1047,2432,2433,'i','x',100,'character varying'), " \
    "(1082,'date',4,true,'b','D',false,0,1182,1084,1085,2468,2469,'i','p',0,'date'), " \
    "(1083,'time',8,true,'b','D',false,0,1183,1143,1144,2470,2471,'d','p',0,'time without time zone'), " \
    "(1114,'timestamp',8,true,'b','D',false,0,1115,1312,1313,2474,2475,'d','p',0,'timestamp without time zone'), " \
    "(1184,'timestamptz',8,true,'b','D',true,0,1185,1150,1151,2476,2477,'d','p',0,'timestamp with time zone'), " \
    "(1186,'interval',16,false,'b','T',true,0,1187,1160,1161,2478,2479,'d','p',0,'interval'), " \
    "(1266,'timetz',12,false,'b','D',false,0,1270,1350,1351,2472,2473,'d','p',0,'time with time zone'), " \
    "(1560,'bit',-1,false,'b','V',false,0,1561,1564,1565,2456,2457,'i','x',0,'bit'), " \
    "(1562,'varbit',-1,false,'b','V',true,0,1563,1579,1580,2458,2459,'i','x',0,'bit varying'), " \
    "(1700,'numeric',-1,false,'b','N',false,0,1231,1701,1702,2460,2461,'i','m',0,'numeric'), " \
    "(1790,'refcursor',-1,false,'b','U',false,0,2201,46,47,2414,2415,'i','x',0,'refcursor'), " \
    "(2202,'regprocedure',4,true,'b','N',false,0,2207,2212,2213,2446,2447,'i','p',0,'regprocedure'), " \
    "(2205,'regclass',4,true,'b','N',false,0,2210,2218,2219,2452,2453,'i','p',0,'regclass'), " \
    "(2206,'regtype',4,true,'b','N',false,0,2211,2220,2221,2454,2455,'i','p',0,'regtype'), " \
    "(2249,'record',-1,false,'p','P',false,0,2287,2290,2291,2402,2403,'d','x',0,'record'), " \
    "(2276,'any',4,true,'p','P',false,0,0,2294,2295,0,0,'i','p',0,'\"any\"'), " \
    "(2277,'anyarray',-1,false,'p','P',false,0,0,2296,2297,2502,2503,'d','x',0,'anyarray'), " \
    "(2278,'void',4,true,'p','P',false,0,0,2298,2299,3120,3121,'i','p',0,'void'), " \
    "(2283,'anyelement',4,true,'p','P',false,0,0,2312,2313,0,0,'i','p',0,'anyelement'), " \
    "(2950,'uuid',16,false,'b','U',false,0,2951,2952,2953,2961,2962,'c','p',0,'uuid'), " \
    "(3802,'jsonb',-1,false,'b','U',false,0,3807,3806,3804,3805,3803,'i','x',0,'jsonb'), " \
    "(3831,'anyrange',-1,false,'p','P',false,0,0,3832,3833,0,0,'d','x',0,'anyrange'), " \
    "(4072,'jsonpath',-1,false,'b','U',false,0,4073,4001,4003,4002,4004,'i','x',0,'jsonpath'), " \
    "(4089,'regnamespace',4,true,'b','N',false,0,4090,4084,4085,4087,4088,'i','p',0,'regnamespace'), " \
    "(4096,'regrole',4,true,'b','N',false,0,4097,4098,4092,4094,4095,'i','p',0,'regrole'), " \
    "(4191,'regcollation',4,true,'b','N',false,0,4192,4193,4194,4196,4197,'i','p',0,'regcollation'), " \
    "(3904,'int4range',-1,false,'r','R',false,0,3905,3834,3835,3836,3837,'i','x',0,'int4range'), " \
    "(3906,'numrange',-1,false,'r','R',false,0,3907,3834,3835,3836,3837,'i','x',0,'numrange'), " \
    "(3908,'tsrange',-1,false,'r','R',false,0,3909,3834,3835,3836,3837,'d','x',0,'tsrange'), " \
    "(3910,'tstzrange',-1,false,'r','R',false,0,3911,3834,3835,3836,3837,'d','x',0,'tstzrange'), " \
    "(3912,'daterange',-1,false,'r','R',false,0,3913,3834,3835,3836,3837,'i','x',0,'daterange'), " \
    "(3926,'int8range',-1,false,'r','R',false,0,3927,3834,3835,3836,3837,'d','x',0,'int8range'), " \
    "(16384,'list',-1,false,'p','P',false,0,0,750,751,2400,2401,'i','x',0,'list'), " \
    "(16385,'map',-1,false,'p','P',false,0,0,3806,3804,3805,3803,'i','x',0,'map'), " \
    "(16552,'mz_timestamp',8,true,'b','N',false,0,16553,460,461,2408,2409,'d','p',0,'mz_timestamp'), " \
    "(16460,'uint2',2,true,'b','N',false,0,16461,38,39,2404,2405,'s','p',0,'uint2'), " \
    "(16462,'uint4',4,true,'b','N',false,0,16463,42,43,2406,2407,'i','p',0,'uint4'), " \
    "(16464,'uint8',8,true,'b','N',false,0,16465,460,461,2408,2409,'d','p',0,'uint8'), " \
    "(5069,'xid8',8,true,'b','U',false,0,271,5070,5081,5082,5083,'d','p',0,'xid8') "

#define PROCS \
    "(31,'byteaout',2275), (33,'charout',2275), (34,'namein',19), (35,'nameout',2275), (38,'int2in',21), (39,'int2out',2275), " \
    "(40,'int2vectorin',22), (41,'int2vectorout',2275), (42,'int4in',23), (43,'int4out',2275), (44,'regprocin',24), " \
    "(45,'regprocout',2275), (46,'textin',25), (47,'textout',2275), (48,'tidin',27), (49,'tidout',2275), (50,'xidin',28), " \
    "(51,'xidout',2275), (52,'cidin',29), (53,'cidout',2275), (54,'oidvectorin',30), (55,'oidvectorout',2275), " \
    "(109,'unknownin',705), (110,'unknownout',2275), (200,'float4in',700), (201,'float4out',2275), (214,'float8in',701), " \
    "(215,'float8out',2275), (321,'json_in',114), (322,'json_out',2275), (323,'json_recv',114), (324,'json_send',17), " \
    "(460,'int8in',20), (461,'int8out',2275), (750,'array_in',2277), (751,'array_out',2275), (886,'cash_in',790), " \
    "(887,'cash_out',2275), (1044,'bpcharin',1042), (1045,'bpcharout',2275), (1046,'varcharin',1043), " \
    "(1047,'varcharout',2275), (1084,'date_in',1082), (1085,'date_out',2275), (1143,'time_in',1083), (1144,'time_out',2275), " \
    "(1150,'timestamptz_in',1184), (1151,'timestamptz_out',2275), (1160,'interval_in',1186), (1161,'interval_out',2275), " \
    "(1242,'boolin',16), (1243,'boolout',2275), (1244,'byteain',17), (1245,'charin',18), (1312,'timestamp_in',1114), " \
    "(1313,'timestamp_out',2275), (1350,'timetz_in',1266), (1351,'timetz_out',2275), (1564,'bit_in',1560), " \
    "(1565,'bit_out',2275), (1579,'varbit_in',1562), (1580,'varbit_out',2275), (1701,'numeric_in',1700), " \
    "(1702,'numeric_out',2275), (1798,'oidin',26), (1799,'oidout',2275), (2212,'regprocedurein',2202), " \
    "(2213,'regprocedureout',2275), (2218,'regclassin',2205), (2219,'regclassout',2275), (2220,'regtypein',2206), " \
    "(2221,'regtypeout',2275), (2290,'record_in',2249), (2291,'record_out',2275), (2294,'any_in',2276), " \
    "(2295,'any_out',2275), (2296,'anyarray_in',2277), (2297,'anyarray_out',2275), (2298,'void_in',2278), " \
    "(2299,'void_out',2275), (2312,'anyelement_in',2283), (2313,'anyelement_out',2275), (2400,'array_recv',2277), " \
    "(2401,'array_send',17), (2402,'record_recv',2249), (2403,'record_send',17), (2404,'int2recv',21), (2405,'int2send',17), " \
    "(2406,'int4recv',23), (2407,'int4send',17), (2408,'int8recv',20), (2409,'int8send',17), (2410,'int2vectorrecv',22), " \
    "(2411,'int2vectorsend',17), (2412,'bytearecv',17), (2413,'byteasend',17), (2414,'textrecv',25), (2415,'textsend',17), " \
    "(2416,'unknownrecv',705), (2417,'unknownsend',17), (2418,'oidrecv',26), (2419,'oidsend',17), (2420,'oidvectorrecv',30), " \
    "(2421,'oidvectorsend',17), (2422,'namerecv',19), (2423,'namesend',17), (2424,'float4recv',700), (2425,'float4send',17), " \
    "(2426,'float8recv',701), (2427,'float8send',17), (2430,'bpcharrecv',1042), (2431,'bpcharsend',17), " \
    "(2432,'varcharrecv',1043), (2433,'varcharsend',17), (2434,'charrecv',18), (2435,'charsend',17), (2436,'boolrecv',16), " \
    "(2437,'boolsend',17), (2438,'tidrecv',27), (2439,'tidsend',17), (2440,'xidrecv',28), (2441,'xidsend',17), " \
    "(2442,'cidrecv',29), (2443,'cidsend',17), (2444,'regprocrecv',24), (2445,'regprocsend',17), " \
    "(2446,'regprocedurerecv',2202), (2447,'regproceduresend',17), (2452,'regclassrecv',2205), (2453,'regclasssend',17), " \
    "(2454,'regtyperecv',2206), (2455,'regtypesend',17), (2456,'bit_recv',1560), (2457,'bit_send',17), " \
    "(2458,'varbit_recv',1562), (2459,'varbit_send',17), (2460,'numeric_recv',1700), (2461,'numeric_send',17), " \
    "(2468,'date_recv',1082), (2469,'date_send',17), (2470,'time_recv',1083), (2471,'time_send',17), " \
    "(2472,'timetz_recv',1266), (2473,'timetz_send',17), (2474,'timestamp_recv',1114), (2475,'timestamp_send',17), " \
    "(2476,'timestamptz_recv',1184), (2477,'timestamptz_send',17), (2478,'interval_recv',1186), (2479,'interval_send',17), " \
    "(2492,'cash_recv',790), (2493,'cash_send',17), (2502,'anyarray_recv',2277), (2503,'anyarray_send',17), " \
    "(2952,'uuid_in',2950), (2953,'uuid_out',2275), (2961,'uuid_recv',2950), (2962,'uuid_send',17), (3120,'void_recv',2278), " \
    "(3121,'void_send',17), (3803,'jsonb_send',17), (3804,'jsonb_out',2275), (3805,'jsonb_recv',3802), " \
    "(3806,'jsonb_in',3802), (3832,'anyrange_in',3831), (3833,'anyrange_out',2275), (3834,'range_in',3831), (3835,'range_out',2275), (3836,'range_recv',3831), (3837,'range_send',17), (4001,'jsonpath_in',4072), " \
    "(4002,'jsonpath_recv',4072), (4003,'jsonpath_out',2275), (4004,'jsonpath_send',17), (4084,'regnamespacein',4089), " \
    "(4085,'regnamespaceout',2275), (4087,'regnamespacerecv',4089), (4088,'regnamespacesend',17), (4092,'regroleout',2275), " \
    "(4094,'regrolerecv',4096), (4095,'regrolesend',17), (4098,'regrolein',4096), (4193,'regcollationin',4191), " \
    "(4194,'regcollationout',2275), (4196,'regcollationrecv',4191), (4197,'regcollationsend',17), (5070,'xid8in',5069), " \
    "(5081,'xid8out',2275), (5082,'xid8recv',5069), (5083,'xid8send',17) "

#define TYPE_ROWS "(VALUES " TYPES ") AS t(oid, name, len, byval, kind, category, preferred, element, arr, input, output, receive, send, " \
    "align, storage, coll, long)"

const char *const pgcat_static[] = {
    /* Both spellings of each type and of its array. */
    TABLE("firn_pg_type_name(oid, short, long, base, base_long, suffix)",
          "SELECT CAST(oid AS UINTEGER), name, long, oid, long, '' FROM " TYPE_ROWS
          " UNION ALL SELECT CAST(arr AS UINTEGER), '_' || name, long || '[]', oid, long, '[]' FROM " TYPE_ROWS " WHERE arr <> 0"),
    TABLE("firn_pg_types(oid, name, len, byval, kind, category, preferred, element, arr, input, output, receive, send, align, storage, coll)",
          "SELECT oid, name, len, byval, kind, category, preferred, element, arr, input, output, receive, send, align, storage, coll FROM " TYPE_ROWS
          " UNION ALL SELECT arr, '_' || name, -1, false, 'b', 'A', false, oid, 0, 750, 751, 2400, 2401, CASE align WHEN 'd' THEN 'd' ELSE 'i' END, "
          "'x', coll FROM " TYPE_ROWS " WHERE arr <> 0"),
    TABLE("firn_pg_procs(oid, name, result)", "SELECT * FROM (VALUES " PROCS ") AS p(oid, name, result)"),
    /* The catalog's own relations by id: objects are described with these. */
    TABLE("firn_pg_system(name, oid)",
          "SELECT name, CAST(oid AS UINTEGER) FROM (VALUES ('pg_class', 1259), ('pg_type', 1247), ('pg_proc', 1255), ('pg_attribute', 1249), "
          "('pg_namespace', 2615), ('pg_database', 1262), ('pg_authid', 1260), ('pg_tablespace', 1213), ('pg_constraint', 2606), "
          "('pg_index', 2610), ('pg_trigger', 2620), ('pg_rewrite', 2618), ('pg_attrdef', 2604), ('pg_extension', 3079), ('pg_am', 2601), "
          "('pg_description', 2609), ('pg_language', 2612), ('pg_operator', 2617), ('pg_cast', 2605), ('pg_collation', 3456), "
          "('pg_conversion', 2607), ('pg_opclass', 2616), ('pg_opfamily', 2753), ('pg_policy', 3256), ('pg_event_trigger', 3466), "
          "('pg_foreign_server', 1417), ('pg_foreign_data_wrapper', 2328), ('pg_foreign_table', 3118), ('pg_publication', 6104), "
          "('pg_subscription', 6100), ('pg_statistic_ext', 3381), ('pg_ts_config', 3602), ('pg_ts_dict', 3600)) AS s(name, oid)"),
    /* Settings that clients read and sessions do not have. */
    TABLE("firn_pg_usual_setting(name, setting)",
          "SELECT * FROM (VALUES ('server_version', '15.0'), ('server_version_num', '150000'), ('server_encoding', 'UTF8'), "
          "('client_encoding', 'UTF8'), ('max_index_keys', '32'), ('max_identifier_length', '63'), ('block_size', '8192'), "
          "('integer_datetimes', 'on'), ('standard_conforming_strings', 'on'), ('DateStyle', 'ISO, MDY'), ('IntervalStyle', 'postgres'), "
          "('TimeZone', 'UTC'), ('lc_collate', 'C'), ('lc_ctype', 'C'), ('bytea_output', 'hex'), ('extra_float_digits', '1'), "
          "('transaction_isolation', 'serializable'), ('default_transaction_isolation', 'serializable'), ('transaction_read_only', 'off'), "
          "('default_transaction_read_only', 'off'), ('jit', 'off'), ('ssl', 'off'), ('is_superuser', 'off'), ('statement_timeout', '0'), "
          "('search_path', ''), ('application_name', ''), ('client_min_messages', 'notice'), ('default_table_access_method', 'iceberg'), "
          "('row_security', 'off'), ('array_nulls', 'on'), ('wal_level', 'replica'), ('data_checksums', 'on')) AS s(name, setting)"),
    "CREATE OR REPLACE VIEW firn_pg_all_setting AS SELECT name, setting FROM firn_pg_setting UNION ALL SELECT u.name, u.setting FROM "
    "firn_pg_usual_setting u WHERE NOT EXISTS (SELECT 1 FROM firn_pg_setting s WHERE lower(s.name) = lower(u.name))",
    NULL,
};
