/* SPDX-License-Identifier: Apache-2.0 */
/* lex_keyword.c - the words the grammar knows.
 *
 * A keyword is an identifier unless its flags say otherwise.  R: never an unquoted identifier.  P: not in the postgres
 * dialect, but as a function's name.  A: no alias without AS, because it begins what may follow.
 * Invariant: parse_keywords.h is sorted (a test looks). */
#include "sql/parse_int.h"

#include <stdlib.h>

typedef struct { const char *name; int flags; } KeywordRow;

static const KeywordRow KEYWORDS[K_COUNT] = {
    { "", 0 },
#define R KW_RESERVED
#define P KW_RESERVED_PG
#define A KW_NO_ALIAS
#define KW(word, flags) { #word, flags },
#include "sql/parse_keywords.h"
#undef KW
#undef R
#undef P
#undef A
};

static int compare(const void *key, const void *row)
{
    Str name = str_c(((const KeywordRow *)row)->name), word = *(const Str *)key;

    for (size_t i = 0; i < word.n && i < name.n; i++) {
        char c = word.p[i] >= 'a' && word.p[i] <= 'z' ? (char)(word.p[i] - 32) : word.p[i];
        if (c != name.p[i])
            return (unsigned char)c - (unsigned char)name.p[i];
    }
    return (word.n > name.n) - (word.n < name.n);
}

Keyword lex_keyword(Str word)
{
    const KeywordRow *row = bsearch(&word, KEYWORDS + 1, K_COUNT - 1, sizeof *KEYWORDS, compare);
    return row ? (Keyword)(row - KEYWORDS) : K_NONE;
}

int lex_keyword_flags(Keyword k) { return KEYWORDS[k].flags; }
const char *lex_keyword_name(Keyword k) { return KEYWORDS[k].name; }
