/* See package.h. Thread: the main thread of the extractor. */
#include "extract/package.h"

#include <stdint.h>

#include <zip.h>

#include "base/mem.h"

enum {
    ENTRIES_MAX = 10000,
    PART_MAX_BYTES = 128 * 1024 * 1024,
    /* What is packed so well is made to fill memory; a long Word file is packed some 30 times. */
    RATIO_FROM_BYTES = 8 * 1024 * 1024,
    RATIO_MAX = 200,
};

struct package {
    zip_t *zip;
};

struct part {
    zip_file_t *file;
    uint64_t size, packed_bytes, bytes; /* size: as the archive says */
    enum extract_outcome outcome;
};

enum extract_outcome package_open(const void *data, size_t len, struct package **out)
{
    zip_error_t fault;
    zip_error_init(&fault);
    zip_source_t *source = zip_source_buffer_create(data, len, 0, &fault);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &fault) : NULL;
    zip_error_fini(&fault);
    if (!zip) {
        zip_source_free(source);
        return EXTRACT_DAMAGED;
    }
    if (zip_get_num_entries(zip, 0) > ENTRIES_MAX) {
        zip_discard(zip);
        return EXTRACT_TOO_BIG;
    }
    *out = mem_new(struct package);
    (*out)->zip = zip;
    return EXTRACT_DONE;
}

void package_close(struct package *package)
{
    if (!package)
        return;
    zip_discard(package->zip);
    mem_free(package);
}

static bool is_too_big(uint64_t bytes, uint64_t packed_bytes)
{
    return bytes > PART_MAX_BYTES || (bytes > RATIO_FROM_BYTES && bytes / RATIO_MAX > packed_bytes);
}

enum extract_outcome part_open(struct package *package, const char *name, struct part **out)
{
    zip_stat_t info;
    zip_int64_t index = package ? zip_name_locate(package->zip, name, ZIP_FL_NOCASE) : -1;
    if (index < 0 || zip_stat_index(package->zip, (zip_uint64_t)index, 0, &info) != 0)
        return EXTRACT_EMPTY;
    if (info.valid & ZIP_STAT_ENCRYPTION_METHOD && info.encryption_method != ZIP_EM_NONE)
        return EXTRACT_ENCRYPTED;
    if (is_too_big(info.size, info.comp_size))
        return EXTRACT_TOO_BIG;
    zip_file_t *file = zip_fopen_index(package->zip, (zip_uint64_t)index, 0);
    if (!file)
        return EXTRACT_DAMAGED;
    struct part *part = mem_new(struct part);
    *part = (struct part){.file = file, .size = info.size, .packed_bytes = info.comp_size};
    *out = part;
    return EXTRACT_DONE;
}

void part_close(struct part *part)
{
    if (!part)
        return;
    zip_fclose(part->file);
    mem_free(part);
}

int part_read(struct part *part, char *out, int len)
{
    if (part->outcome)
        return -1;
    zip_int64_t n = zip_fread(part->file, out, (zip_uint64_t)len);
    part->bytes += n > 0 ? (uint64_t)n : 0;
    if (n < 0)
        part->outcome = EXTRACT_DAMAGED;
    else if (is_too_big(part->bytes, part->packed_bytes))
        part->outcome = EXTRACT_TOO_BIG; /* it has lied about its size */
    return part->outcome ? -1 : (int)n;
}

size_t part_size(const struct part *part)
{
    return (size_t)part->size;
}

enum extract_outcome part_outcome(const struct part *part)
{
    return part->outcome;
}
