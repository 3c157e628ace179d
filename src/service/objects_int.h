/* SPDX-License-Identifier: Apache-2.0 */
/* objects_int.h - inside of objects: their documents, types in them. */
#ifndef FIRN_OBJECTS_INT_H
#define FIRN_OBJECTS_INT_H

#include "service/objects.h"

Json *object_type_json(Arena *a, const DataType *t);
NODISCARD Status object_type_of(Arena *a, const Json *j, DataType *ret, Error *err);

Json *object_json(Arena *a, const Object *o);
NODISCARD Status object_of(Arena *a, const Json *j, Object *ret, Error *err);
Object object_copy(Arena *a, const Object *o);

#endif
