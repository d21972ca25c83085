/* The languages that Earshot knows, as one table; the catalog says which are enabled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct language {
    const char *id, *label, *iso;
    const char *script;  /* ISO 15924 of what is written: "Latn", "Deva", ... */
    const char *sample;  /* a sentence to hear a voice with */
    const char *holding; /* the short line while a tool works */
};

extern const struct language language_table[];
extern const size_t language_count;

const struct language *language_by_id(const char *id);   /* NULL: unknown */
const struct language *language_by_iso(const char *iso); /* the first whose iso it is */
