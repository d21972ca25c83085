/* See kind.h. Thread: any. */
#include "extract/kind.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "extract/charset.h"

enum { PIECE_BYTES = 64 * 1024 };

const char *const extract_kind_names[EXTRACT_KIND_COUNT] = {"text", "pdf", "docx"};

static const char pdf_begin[] = "%PDF-", zip_begin[] = "PK\3\4", word_part[] = "word/document";

/* -1: it cannot be read. */
static ssize_t read_at(int fd, char *out, size_t len, size_t from)
{
    size_t got = 0;
    while (got < len) {
        ssize_t n = pread(fd, out + got, len - got, (off_t)(from + got));
        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0)
            break;
        got += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)got;
}

/* Does the name of Word's main part stand in the archive? */
static bool has_word_part(int fd, char *piece)
{
    enum { OVERLAP = sizeof(word_part) - 2 };
    ssize_t n = PIECE_BYTES;
    for (size_t at = 0; n == PIECE_BYTES; at += PIECE_BYTES - OVERLAP) {
        n = read_at(fd, piece, PIECE_BYTES, at);
        if (n > 0 && memmem(piece, (size_t)n, word_part, sizeof(word_part) - 1))
            return true;
    }
    return false;
}

static bool begins(const char *data, ssize_t len, const char *with, size_t with_len)
{
    return (size_t)len >= with_len && memcmp(data, with, with_len) == 0;
}

enum err extract_kind_of(int fd, enum extract_kind *out)
{
    AUTO_MEM char *piece = mem_new_n(char, PIECE_BYTES);
    ssize_t n = fd < 0 ? 0 : read_at(fd, piece, PIECE_BYTES, 0);
    if (n < 0)
        return ERR_IO;
    if (begins(piece, n, pdf_begin, sizeof(pdf_begin) - 1))
        *out = EXTRACT_PDF;
    else if (begins(piece, n, zip_begin, sizeof(zip_begin) - 1) && has_word_part(fd, piece))
        *out = EXTRACT_DOCX;
    else if (charset_is_text(piece, (size_t)n))
        *out = EXTRACT_TEXT;
    else
        return ERR_UNSUPPORTED;
    return OK;
}
