/* SPDX-License-Identifier: Apache-2.0 */
/* codec_int.h - what the files of the codec room share; nobody else includes it. */
#ifndef FIRN_CODEC_INT_H
#define FIRN_CODEC_INT_H

#include "codec/codec.h"

enum {
    AVRO_MAX_DEPTH     = 128,                  /* of a schema and of a value */
    AVRO_MAX_FIELDS    = 10 * 1000,            /* of one record or union */
    AVRO_MAX_FIXED     = 16 * 1024 * 1024,
    AVRO_MAX_PRECISION = 1000,
    AVRO_MAX_VALUES    = 16 * 1024 * 1024,     /* decoded from one file */
    AVRO_VALUES_A_BYTE = 4,                    /* a value takes a byte, but for records around it */
    AVRO_MAX_EMPTY     = 64 * 1024,            /* elements of one array or block that take no bytes */
    AVRO_SYNC          = 16,
    AVRO_BLOCK_BYTES   = 64 * 1024,            /* a block is closed when it holds this much */
};

#define AVRO_MAGIC ((Str){ "Obj\1", 4 })

const char *avro_kind_name(AvroKind kind);

#endif
