/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - feeds every file of the named folders to a fuzz target, once; linked to each target for `make test`. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);      /* targets that set something up */

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    if (n < 0) {                                  /* a folder */
        fclose(f);
        return 0;
    }
    rewind(f);
    uint8_t *data = malloc((size_t)n + 1);
    size_t got = fread(data, 1, (size_t)n, f);
    fclose(f);
    LLVMFuzzerTestOneInput(data, got);
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int count = 0;
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        for (struct dirent *e; d && (e = readdir(d)); ) {
            char path[4096];
            if (e->d_name[0] != '.' && snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name) < (int)sizeof path)
                count += replay_file(path);
        }
        if (d)
            closedir(d);
    }
    printf("%d inputs replayed\n", count);
    return 0;
}
