/* What a voice is given to say, in each language: text stays text, and nothing but digits, signs
 * and the names beside them is written in another way. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "text/aloud.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const isos[] = {"en", "hi", "es", "fr", "de", "it",
                                       "pt", "nl", "pl", "ru", "ta"};
    if (size == 0 || size > 4096)
        return 0;
    AUTO_MEM char *text = mem_strndup((const char *)data + 1, size - 1);
    AUTO_BUF out = BUF_INIT(1 << 20);
    aloud_write(text, isos[data[0] % ARRAY_LEN(isos)], &out);
    assert(!out.is_full && (out.len > 0) == (*text != '\0'));
    if (out.len && utf8_is_valid(text, strlen(text)))
        assert(utf8_is_valid(out.data, out.len));
    if (out.len && !strpbrk(text, "0123456789@./"))
        assert(strcmp(out.data, text) == 0);
    return 0;
}
