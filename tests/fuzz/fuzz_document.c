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

enum { SECTION_MOST_CHARS = 1200, TERMS_MAX_BYTES = 1 << 22 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536)
        return 0;
    AUTO_MEM char *text = mem_strndup((const char *)data, size);
    AUTO(arena) arena = arena_new(0);
    struct passages cut;
    if (passages_cut(text, arena, &cut))
        return 0;
    assert(cut.count > 0);
    for (size_t i = 0; i < cut.count; i++) {
        const struct passage *passage = &cut.items[i];
        assert(*passage->text && passage->language);
        assert(!passage->question || *passage->question);
        assert(passage->question || utf8_count(passage->text) <= SECTION_MOST_CHARS);
        AUTO_BUF terms = BUF_INIT(TERMS_MAX_BYTES);
        know_terms(passage, &terms);
        double likeness = terms_likeness(i ? cut.items[i - 1].language : "", passage->language);
        assert(likeness >= 0 && likeness <= 1);
    }
    return 0;
}
