/* A zip archive of parts, as Word's files are, in memory: what a part unpacks to is bounded, by its
 * bytes and by how many times more than packed they are, whatever the archive says of itself.
 * Thread: the main thread of the extractor. */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "extract/block.h"

struct package;
struct part;

/* data: borrowed until package_close(). EXTRACT_DONE, EXTRACT_DAMAGED, EXTRACT_TOO_BIG (entries).
 */
enum extract_outcome package_open(const void *data, size_t len, struct package **out) MUST_USE;
void package_close(struct package *package);

/* EXTRACT_EMPTY: it has no such part (package NULL: none at all). EXTRACT_ENCRYPTED,
 * EXTRACT_TOO_BIG, EXTRACT_DAMAGED. */
enum extract_outcome part_open(struct package *package, const char *name,
                               struct part **out) MUST_USE;
void part_close(struct part *part);
/* Bytes read, 0 at the end, -1: broken or too big (part_outcome() says which). */
int part_read(struct part *part, char *out, int len);
size_t part_size(const struct part *part); /* as the archive says: it may lie */
enum extract_outcome part_outcome(const struct part *part);
