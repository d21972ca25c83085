/* See run.h. Thread: the main thread. */
#include "extract/run.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/enum.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "extract/charset.h"
#include "extract/kind.h"
#include "extract/plain.h"
#include "extract/reader.h"

enum {
    MEMORY_BYTES = 512 * 1024 * 1024, /* of address space; 25 MB of PDF take 165 MB of it */
    DESCRIPTORS = 16,
    CPU_S = 60,
    TEXT_MAX_BYTES = 32 * 1024 * 1024, /* four times what a document may hold */
    OTHER_KIND_EXIT = 2,
};

static extract_reader_fn *const readers[EXTRACT_KIND_COUNT] = {
    [EXTRACT_TEXT] = text_file_read,
    [EXTRACT_DOCX] = docx_file_read,
    [EXTRACT_PDF] = pdf_file_read,
};

enum extract_outcome extract_outcome_of(enum err err)
{
    return err == OK ? EXTRACT_DONE : err == ERR_LIMIT ? EXTRACT_TOO_LONG : EXTRACT_BROKEN;
}

enum extract_outcome text_file_read(const struct extract_file *file, struct block_writer *out)
{
    AUTO_BUF text = BUF_INIT(TEXT_MAX_BYTES);
    enum err err = charset_decode(file->data, file->len, &text);
    if (err)
        return err == ERR_LIMIT ? EXTRACT_TOO_LONG : EXTRACT_NO_TEXT;
    return extract_outcome_of(plain_read(text.len ? text.data : "", out));
}

static extract_reader_fn *find_reader(const char *kind)
{
    int found = enum_find(extract_kind_names, EXTRACT_KIND_COUNT, kind);
    return found < 0 ? NULL : readers[found];
}

/* Mapped and not read: a file of 25 MB costs no memory of its own. */
static bool map_input(struct extract_file *out)
{
    struct stat info;
    if (fstat(STDIN_FILENO, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *out = (struct extract_file){0};
    out->len = (size_t)info.st_size;
    out->data = "";
    if (out->len == 0)
        return true;
    void *data = mmap(NULL, out->len, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    out->data = data;
    return data != MAP_FAILED;
}

bool extract_lock_in(void)
{
    static const char *const nothing[] = {NULL};
    const struct sandbox_wish wish = {.readable = nothing,
                                      .memory_bytes = MEMORY_BYTES,
                                      .file_bytes = 0,
                                      .descriptors = DESCRIPTORS,
                                      .cpu_s = CPU_S};
    struct sandbox_state state;
    struct fault fault = {0};
    if (sandbox_enter(&wish, &state, &fault) == OK)
        return true;
    fprintf(stderr, "earshot extract: %s\n", fault.text);
    return false;
}

int extract_run(const char *kind)
{
    extract_reader_fn *read_file = find_reader(kind);
    struct extract_file file;
    if (!read_file || !map_input(&file)) {
        fprintf(stderr, "earshot extract is started by the service itself, with a file to read.\n");
        return OTHER_KIND_EXIT;
    }
    if (read_file == pdf_file_read)
        (void)pdf_file_start(&file); /* without, the reader says so */
    if (!extract_lock_in())
        return 1;
    struct block_writer out;
    block_writer_init(&out, STDOUT_FILENO);
    block_end(&out, read_file(&file, &out));
    block_writer_clear(&out);
    return 0;
}
