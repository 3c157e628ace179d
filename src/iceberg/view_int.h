/* SPDX-License-Identifier: Apache-2.0 */
/* view_int.h - shared by view.c and view_apply.c. */
#ifndef FIRN_ICEBERG_VIEW_INT_H
#define FIRN_ICEBERG_VIEW_INT_H

#include "iceberg/iceberg_int.h"

enum { VIEW_FORMAT_VERSION = 1 };

#endif
