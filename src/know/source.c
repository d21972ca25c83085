/* See source.h. */
#include "know/source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/document.h"

enum { PIECES_PER_JOB = 16 /* 4 MB */ };

void source_init(struct source *source)
{
    *source = (struct source){.fd = -1, .text = BUF_INIT(DOCUMENT_FILE_BYTES)};
}

void source_clear(struct source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    buf_clear(&source->text);
    source_init(source);
}

/* A file without a name, in the data directory or in memory: nobody else finds it. */
static int open_unnamed(const char *dir)
{
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : memfd_create("document", MFD_CLOEXEC);
}

enum err source_open(struct source *source, enum document_kind kind, const char *dir)
{
    source->kind = kind;
    if (kind != DOCUMENT_TEXT)
        source->fd = open_unnamed(dir);
    return kind != DOCUMENT_TEXT && source->fd < 0 ? ERR_IO : OK;
}

static enum err keep_piece(struct source *source, const char *piece, size_t len, size_t at)
{
    if (source->kind == DOCUMENT_TEXT)
        return buf_append(&source->text, piece, len);
    for (size_t done = 0; done < len;) {
        ssize_t n = pwrite(source->fd, piece + done, len - done, (off_t)(at + done));
        if (n <= 0)
            return ERR_IO;
        done += (size_t)n;
    }
    return OK;
}

enum err source_copy(struct source *source, struct tx *tx, const char *id)
{
    struct source_place place = source->place;
    enum err err = OK;
    source->text.len = source->kind == DOCUMENT_TEXT ? place.bytes : 0;
    for (unsigned i = 0; i < PIECES_PER_JOB && !err; i++) {
        const void *piece;
        size_t len;
        err = store_document_piece(tx, id, place.position, &piece, &len);
        if (!err)
            err = keep_piece(source, piece, len, place.bytes);
        place.position += !err;
        place.bytes += err ? 0 : len;
    }
    place.has_all = err == ERR_NOT_FOUND;
    source->place_after = place;
    return place.has_all ? OK : err;
}

bool source_has_all(struct source *source)
{
    source->place = source->place_after;
    return source->place.has_all;
}

const char *source_text(const struct source *source)
{
    return source->text.len ? source->text.data : "";
}
