/* A document's text, cut into passages and turned into terms: nothing empty, every section bounded.
 */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "know/passages.h"
#include "know/terms.h"

enum { SECTION_MAX_CHARS = 1200, KEYS_MAX_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536)
        return 0;
    AUTO_MEM char *text = mem_strndup((const char *)data, size);
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    if (passages_cut(text, NULL, arena, &cut))
        return 0;
    assert(cut.count > 0);
    for (size_t i = 0; i < cut.count; i++) {
        const struct passage *passage = &cut.items[i];
        assert(*passage->text && passage->language);
        assert(!passage->question || *passage->question);
        assert(passage->question || utf8_count(passage->text) <= SECTION_MAX_CHARS);
        struct word_list words = {0};
        know_words(passage, arena, &words);
        assert(words.lead <= words.count);
        for (size_t j = 0; j < words.count; j++) {
            AUTO_BUF keys = BUF_INIT(KEYS_MAX_BYTES);
            know_keys(words.items[j], passage->language, &keys);
            assert(*words.items[j] && !keys.is_full);
        }
    }
    return 0;
}
