/* PDF files: starts the two programs of poppler-utils before the extractor is locked in, reads what
 * they print after it, and says why there is no text. See pdf.h.
 *
 *   pdfinfo   --pages, encryption-->  this
 *   pdftotext --words-------------->  pdf_words --> pdf_order --> pdf_repeat --> pdf_text
 *   pdftotext --text--------------->  plain; it stands still, its pipe full, until that is wanted
 *
 * Each is locked in as the extractor is, but may execute itself and read its libraries.
 * Thread: the main thread of the extractor. */
#include "extract/pdf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/sandbox.h"
#include "extract/kind.h"
#include "extract/plain.h"
#include "extract/reader.h"

enum {
    /* 25 MB of text pages take 65 MB. A page of a million words would take all there is, for as
     * long as it is let: with less it fails sooner. */
    MEMORY_BYTES = 256 * 1024 * 1024,
    DESCRIPTORS = 32,
    CPU_S = 100,
    INFO_MAX_BYTES = 64 * 1024,
    READ_BYTES = 64 * 1024,
    RAW_MAX_BYTES = 32 * 1024 * 1024,
    LOST_MIN = 50,       /* one word in so many: then the boxes are not worth more than the text */
    KILLED_STATUS = 128, /* and the signal's number: child_pipe_wait() */
};

enum { PLACES = 2 };
static const char *const programs[][PLACES] = {
    {"/usr/bin/pdftotext", "/usr/local/bin/pdftotext"},
    {"/usr/bin/pdfinfo", "/usr/local/bin/pdfinfo"},
};

static const char *find_program(size_t which)
{
    for (size_t i = 0; i < PLACES; i++)
        if (access(programs[which][i], X_OK) == 0)
            return programs[which][i];
    return NULL;
}

bool pdf_is_possible(void)
{
    return find_program(0) && find_program(1);
}

/* The file once more, with a place of its own in it: two programs read it at once. */
static bool start(struct extract_program *out, const char *const *argv)
{
    static const char *const readable[] = {
        "/usr/lib", "/lib", "/usr/local/lib", "/usr/share/poppler", "/etc/ld.so.cache", NULL};
    static const char *const loaders[] = {"/lib64/ld-linux-x86-64.so.2",
                                          "/lib/ld-linux-aarch64.so.1"};
    const char *const executable[] = {argv[0], loaders[0], loaders[1], NULL};
    const struct sandbox_wish wish = {.readable = readable,
                                      .executable = executable,
                                      .memory_bytes = MEMORY_BYTES,
                                      .file_bytes = 0,
                                      .descriptors = DESCRIPTORS,
                                      .cpu_s = CPU_S};
    struct fault fault;
    int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    const struct child_pipe_spec spec = {argv, fd, &wish};
    bool is_started = fd >= 0 && child_pipe(&spec, &out->pid, &out->fd, &fault) == OK;
    if (fd >= 0)
        close(fd);
    return is_started;
}

bool pdf_file_start(struct extract_file *file)
{
    const char *text = find_program(0), *info = find_program(1);
    if (!text || !info)
        return false;
    const char *const info_argv[] = {info, "-", NULL};
    const char *const text_argv[] = {text, "-q", "-bbox-layout", "-l", "20000", "-", "-", NULL};
    const char *const raw_argv[] = {text, "-q", "-raw", "-l", "20000", "-", "-", NULL};
    return start(&file->info, info_argv) && start(&file->text, text_argv) &&
           start(&file->raw, raw_argv);
}

/* What pdfinfo says. */

struct info {
    unsigned pages;
    bool is_known, forbids_copying;
};

static void read_info(const struct extract_program *program, struct info *out)
{
    AUTO_BUF text = BUF_INIT(INFO_MAX_BYTES);
    char piece[4096];
    for (ssize_t n; (n = read(program->fd, piece, sizeof(piece))) != 0;)
        if (n > 0)
            (void)buf_append(&text, piece, (size_t)n);
        else if (errno != EINTR)
            break;
    out->is_known = child_pipe_wait(program->pid) == 0 && text.len;
    const char *pages = text.len ? strstr(text.data, "\nPages:") : NULL;
    const char *encrypted = text.len ? strstr(text.data, "\nEncrypted:") : NULL;
    if (pages)
        out->pages = (unsigned)MIN(strtoul(pages + 7, NULL, 10), (unsigned long)PDF_PAGES_MAX);
    if (encrypted) {
        const char *copying = strstr(encrypted, "copy:no"), *end = strchr(encrypted + 1, '\n');
        out->forbids_copying = copying && (!end || copying < end);
    }
}

/* Words. */

struct progress {
    struct pdf_document document;
    struct block_writer *out;
    unsigned pages;
    size_t words, lost; /* lost: without a place */
};

static void take_page(void *arg, struct pdf_page *page)
{
    struct progress *progress = arg;
    pdf_order_page(&progress->document, page);
    block_progress(progress->out, page->number, MAX(progress->pages, page->number));
}

static void read_words(const struct extract_program *program, struct progress *progress)
{
    struct pdf_words words;
    static char piece[READ_BYTES];
    pdf_words_init(&words, take_page, progress);
    for (ssize_t n; (n = read(program->fd, piece, sizeof(piece))) != 0;)
        if (n > 0)
            pdf_words_push(&words, piece, (size_t)n);
        else if (errno != EINTR)
            break;
    progress->words = words.words;
    progress->lost = words.lost;
    pdf_words_clear(&words);
}

/* What the program itself takes for the order. */
static enum extract_outcome read_raw(const struct extract_program *program,
                                     struct block_writer *out)
{
    AUTO_BUF text = BUF_INIT(RAW_MAX_BYTES);
    static char piece[READ_BYTES];
    if (program->fd <= 0) /* it could not be started */
        return EXTRACT_BROKEN;
    for (ssize_t n; (n = read(program->fd, piece, sizeof(piece))) != 0;) {
        for (ssize_t i = 0; i < n; i++) /* a NUL would end it, a form feed ends a page */
            piece[i] = piece[i] == '\0' || piece[i] == '\f' ? '\n' : piece[i];
        if (n > 0 ? buf_append(&text, piece, (size_t)n) != OK : errno != EINTR)
            break;
    }
    if (text.is_full)
        return EXTRACT_TOO_LONG;
    int status = child_pipe_wait(program->pid);
    if (status > KILLED_STATUS)
        return extract_outcome_of_signal(status - KILLED_STATUS);
    return extract_outcome_of(plain_read(text.len ? text.data : "", out));
}

/* Why there is none. */

static bool holds(const struct extract_file *file, const char *text)
{
    return memmem(file->data, file->len, text, strlen(text)) != NULL;
}

static enum extract_outcome no_pages(const struct extract_file *file, const struct info *info)
{
    if (!info->is_known && holds(file, "/Encrypt"))
        return EXTRACT_ENCRYPTED;
    return EXTRACT_DAMAGED;
}

/* Pages without a word: a scan has its pictures in them. Dictionaries of pictures are never packed.
 */
static enum extract_outcome no_words(const struct extract_file *file)
{
    bool has_pictures = holds(file, "/Subtype/Image") || holds(file, "/Subtype /Image");
    return has_pictures ? EXTRACT_SCANNED : EXTRACT_EMPTY;
}

enum extract_outcome pdf_file_read(const struct extract_file *file, struct block_writer *out)
{
    struct info info = {0};
    if (file->text.fd <= 0)
        return EXTRACT_NO_PROGRAM;
    read_info(&file->info, &info);
    if (info.forbids_copying)
        return EXTRACT_ENCRYPTED;
    struct progress progress = {.out = out, .pages = info.pages};
    pdf_document_init(&progress.document);
    block_progress(out, 0, info.pages);
    read_words(&file->text, &progress);
    bool is_lost = progress.lost * LOST_MIN > progress.words + progress.lost;
    int status = child_pipe_wait(file->text.pid);
    enum extract_outcome outcome = EXTRACT_DONE;
    if (status > KILLED_STATUS)
        outcome = extract_outcome_of_signal(status - KILLED_STATUS);
    else if (!progress.document.pages)
        outcome = no_pages(file, &info);
    else if (is_lost)
        outcome = read_raw(&file->raw, out);
    else if (!progress.words)
        outcome = no_words(file);
    else if (progress.document.is_full)
        outcome = EXTRACT_TOO_LONG;
    if (!outcome && !is_lost) {
        pdf_drop_repeated(&progress.document);
        outcome = extract_outcome_of(pdf_write(&progress.document, out));
    }
    pdf_document_clear(&progress.document);
    return outcome;
}
