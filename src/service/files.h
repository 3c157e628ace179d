/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - files on S3 paths as relations, by the caller's rights. */
#ifndef FIRN_SERVICE_FILES_H
#define FIRN_SERVICE_FILES_H

#include "service/session_int.h"

/* Binder.resolve_file; ctx is the Run. */
NODISCARD Status files_resolve(void *ctx, Arena *a, const TableRef *ref, BoundTable **ret, Error *err);
void files_print(StrBuf *out, const TableRef *ref);

#endif
