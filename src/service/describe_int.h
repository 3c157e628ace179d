/* SPDX-License-Identifier: Apache-2.0 */
/* describe_int.h - what SHOW and DESCRIBE both tell of a table. */
#ifndef FIRN_DESCRIBE_INT_H
#define FIRN_DESCRIBE_INT_H

#include "service/session_int.h"

NODISCARD Status describe_properties(Run *r, const LakeTable *t, Props *ret, Error *err);
NODISCARD Status describe_view_properties(Run *r, const CatRelation *rel, Props *ret, Error *err);
NODISCARD Status describe_create_text(Run *r, const Name *n, const LakeTable *t, Str *ret, Error *err);
/* A string literal as SHOW CREATE writes it: in quotes, backslash before a quote and a backslash. */
void describe_string(StrBuf *b, Str s);

#endif
