/* SPDX-License-Identifier: Apache-2.0 */
#include "source/format_int.h"
static Status o_(Format *f UNUSED, const FormatOptions *o UNUSED, Error *err) { return FAIL(err, E_UNSUPPORTED, "protobuf"); }
const FormatKind format_protobuf = { "protobuf", o_, NULL };
