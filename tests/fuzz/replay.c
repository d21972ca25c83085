/* Feeds a fuzz target every file of its corpus: as it is, cut at every length (short files) and
 * with each byte changed once. Ends with `N inputs`. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum {
    INPUT_MAX_BYTES = 1 << 20,
    BENT_MAX_BYTES = 2048, /* longer inputs are replayed as they are */
    PATH_BYTES = 4096,
};

static long inputs;

/* An exact allocation, so that a sanitizer sees a read past the end. */
static void feed(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    inputs++;
}

static void feed_bent(uint8_t *data, size_t size)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xff};
    feed(data, size);
    if (size > BENT_MAX_BYTES)
        return;
    for (size_t cut = 0; cut < size; cut++)
        feed(data, cut);
    for (size_t at = 0; at < size; at++) {
        uint8_t flip = flips[at % sizeof(flips)];
        data[at] ^= flip;
        feed(data, size);
        data[at] ^= flip;
    }
}

static int feed_file(const char *path)
{
    static uint8_t data[INPUT_MAX_BYTES];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    size_t size = fread(data, 1, sizeof(data), file);
    fclose(file);
    feed_bent(data, size);
    return 0;
}

int main(int argc, char **argv)
{
    DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
    int failed = 0, files = 0;
    if (!dir) {
        fprintf(stderr, "usage: replay CORPUS-DIRECTORY\n");
        return 2;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[PATH_BYTES];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        failed += feed_file(path);
        files++;
    }
    closedir(dir);
    printf("%ld inputs\n%d passed, %d failed\n", inputs, files - failed, failed);
    return failed || files == 0;
}
