/* Snowball, wrapped, so that its header is included once. */
#include "text/stem.h"

#include <libstemmer.h>
#include <string.h>

#include "base/mem.h"

struct stem {
    struct sb_stemmer *snowball;
};

struct stem *stem_new(const char *iso)
{
    struct sb_stemmer *snowball = iso && *iso ? sb_stemmer_new(iso, "UTF_8") : NULL;
    if (!snowball)
        return NULL;
    struct stem *stem = mem_new(struct stem);
    stem->snowball = snowball;
    return stem;
}

void stem_free(struct stem *stem)
{
    if (!stem)
        return;
    sb_stemmer_delete(stem->snowball);
    mem_free(stem);
}

const char *stem_word(struct stem *stem, const char *folded)
{
    if (!stem)
        return folded;
    const sb_symbol *word = (const sb_symbol *)folded;
    word = sb_stemmer_stem(stem->snowball, word, (int)strlen(folded));
    return word ? (const char *)word : folded;
}
