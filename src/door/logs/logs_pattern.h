/* SPDX-License-Identifier: Apache-2.0 */
/* logs_pattern.h - CloudWatch Logs' filter patterns: text in, a matcher out.  Pure.
 *
 *   (empty)                    everything
 *   ERROR "a phrase" -DEBUG    every term, none of those with a minus; case counts
 *   ?ERROR ?WARN               one of them, when there are no plain terms
 *   { $.a.b[0] = "x*" && ($.n >= 5 || $.c IS NULL) }     of messages that are JSON objects: = != < <= > >=, IS TRUE|FALSE|NULL, NOT EXISTS
 *   [ip, user, ..., status = 4*, size > 10]              of messages of words: fields by place, "quoted" and [bracketed] ones are one word
 * Regular expressions (%…%) are not supported. */
#ifndef FIRN_LOGS_PATTERN_H
#define FIRN_LOGS_PATTERN_H

#include "base/base.h"
#include "codec/codec.h"

enum { LOG_PATTERN_MAX = 1024, LOG_PATTERN_TERMS = 128, LOG_PATTERN_DEPTH = 16 };

typedef struct LogPattern LogPattern;
/* E_SYNTAX: not a pattern; E_UNSUPPORTED. The text must outlive the pattern. */
NODISCARD Status log_pattern_parse(Arena *a, Str text, LogPattern **ret, Error *err);
/* `scratch` holds what one message needs and may be emptied after. */
bool log_pattern_matches(const LogPattern *p, Arena *scratch, Str message);

#endif
