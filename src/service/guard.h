/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - the files of managed views, watched.
 *
 * The engine does not check Parquet page checksums, so a file whose size or time changed since it was last proven is hashed again before
 * it is read, and a background scrub re-reads all of them at a configured rate.  A mismatch quarantines the view. */
#ifndef FIRN_GUARD_H
#define FIRN_GUARD_H

#include "service/service.h"

typedef struct Guard Guard;
Guard *guard_new(Service *s);
LakeHooks guard_hooks(Guard *g);
NODISCARD Status guard_start(Guard *g, Error *err);       /* the scrub's thread, when the rate is not 0 */
void guard_free(Guard *g);
typedef struct GuardState { int64_t files, bytes, mismatches; } GuardState;
GuardState guard_state(Guard *g);

#endif
