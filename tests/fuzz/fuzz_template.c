/* Texts with {{placeholders}}: what no name stands in is copied, and values are not filled again.
 */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "text/template.h"

static const char *value_of(void *arg, const char *name, size_t len)
{
    assert(len > 0 && len <= 64 && !memchr(name, '}', len) && !memchr(name, ' ', len));
    (*(size_t *)arg)++;
    return *name == 'a' ? "{{b}}" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_MEM char *text = mem_strndup((const char *)data, size);
    AUTO_BUF out = BUF_INIT(1 << 20);
    size_t filled = 0;
    enum err err = template_fill(text, value_of, &filled, &out);
    assert(err == OK);
    assert(filled > 0 || strcmp(text, out.data ? out.data : "") == 0);
    return 0;
}
