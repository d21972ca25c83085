/* A self-signed certificate for a name (and 127.0.0.1) with its key, as files of a test. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "net/tls.h"
#include "test.h"

struct pem_files {
    char dir[32], cert[48], key[48];
};

static inline bool pem_file_write(const char *path, const struct buf *text)
{
    FILE *file = fopen(path, "w");
    bool is_written = file && fwrite(text->data, 1, text->len, file) == text->len;
    if (file)
        fclose(file);
    return CHECK(is_written);
}

static inline bool pem_files_make(struct pem_files *files, const char *name)
{
    const char *const names[] = {name, "127.0.0.1"};
    AUTO_BUF cert = BUF_INIT(10000);
    AUTO_BUF key = BUF_INIT(10000);
    strcpy(files->dir, "/tmp/earshot-pem-XXXXXX");
    if (!CHECK(mkdtemp(files->dir)) || !CHECK(tls_self_signed(names, 2, &cert, &key, NULL) == OK))
        return false;
    snprintf(files->cert, sizeof(files->cert), "%s/cert.pem", files->dir);
    snprintf(files->key, sizeof(files->key), "%s/key.pem", files->dir);
    return pem_file_write(files->cert, &cert) && pem_file_write(files->key, &key);
}

static inline void pem_files_remove(const struct pem_files *files)
{
    unlink(files->cert);
    unlink(files->key);
    rmdir(files->dir);
}
