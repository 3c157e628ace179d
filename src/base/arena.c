/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - memory that is freed whole.
 *
 * Blocks double from 8 KiB to 1 MiB; a request larger than half a block gets a block of its own, so that the
 * current block stays useful.  Invariants: (1) every pointer handed out is 16-aligned and zeroed;
 * (2) the last allocation of the current block can grow in place. */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK_MIN = 8 * 1024, BLOCK_MAX = 1024 * 1024, ALIGN = 16 };

typedef struct Block { struct Block *next; size_t size, used; _Alignas(ALIGN) char data[]; } Block;

typedef struct Shared { struct Shared *next; void (*release)(void *what); void *what; } Shared;

struct Arena { Block *head; size_t next_size, total; Shared *shared; };

static _Noreturn void out_of_memory(size_t size)
{
    fprintf(stderr, "firn: out of memory asking for %zu bytes\n", size);
    abort();
}

static Block *block_new(size_t size)
{
    Block *b = calloc(1, sizeof(Block) + size);
    if (!b)
        out_of_memory(size);
    b->size = size;
    return b;
}

Arena *arena_create(void)
{
    Arena *a = calloc(1, sizeof *a);
    if (!a)
        out_of_memory(sizeof *a);
    a->next_size = BLOCK_MIN;
    return a;
}

void arena_destroy(Arena *a)
{
    if (!a)
        return;
    for (Shared *s = a->shared; s; s = s->next)
        s->release(s->what);
    for (Block *b = a->head, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

void arena_destroyp(Arena **a)
{
    arena_destroy(*a);
    *a = NULL;
}

static void *alloc_alone(Arena *a, size_t size)
{
    Block *b = block_new(size);
    b->used = size;
    if (a->head) {
        b->next = a->head->next;
        a->head->next = b;
    } else {
        a->head = b;
    }
    return b->data;
}

void *arena_alloc(Arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        out_of_memory(size);
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!size)
        size = ALIGN;
    a->total += size;
    if (size > a->next_size / 2)
        return alloc_alone(a, size);
    if (!a->head || a->head->size - a->head->used < size) {
        Block *b = block_new(a->next_size);
        b->next = a->head;
        a->head = b;
        if (a->next_size < BLOCK_MAX)
            a->next_size *= 2;
    }
    void *p = a->head->data + a->head->used;
    a->head->used += size;
    return p;
}

void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size)
{
    size_t had = (old_size + ALIGN - 1) & ~(size_t)(ALIGN - 1), want = (new_size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    Block *b = a->head;

    if (old && had && b && (char *)old + had == b->data + b->used && b->size - b->used >= want - had) {   /* (2) */
        b->used += want - had;
        a->total += want - had;
        return old;
    }
    void *p = arena_alloc(a, new_size);
    if (old)
        memcpy(p, old, old_size);
    return p;
}

void arena_keep(Arena *a, void (*release)(void *what), void *what)
{
    Shared *s = arena_new(a, Shared);
    *s = (Shared){ a->shared, release, what };
    a->shared = s;
}

size_t arena_used(const Arena *a) { return a->total; }

void vec_grow_(Arena *a, void **p, size_t *cap, size_t size)
{
    size_t next = *cap ? *cap * 2 : 8;
    *p = arena_grow(a, *p, *cap * size, next * size);
    *cap = next;
}

void file_closep(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}
