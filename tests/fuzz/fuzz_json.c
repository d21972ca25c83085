/* Strict JSON: what is taken comes back equal from its own text, and the two writers agree that it
 * is UTF-8 without U+0000. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { DEPTH_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(js) tree = NULL;
    struct fault fault = {0};
    if (js_parse((const char *)data, size, DEPTH_MAX, &tree, &fault)) {
        assert(fault.err == ERR_INVALID && fault.text[0] && !tree);
        return 0;
    }
    assert(utf8_is_valid((const char *)data, size));
    AUTO_MEM char *text = js_print(tree);
    AUTO(js) again = NULL;
    enum err err = js_parse(text, strlen(text), DEPTH_MAX, &again, &fault);
    assert(err == OK);
    AUTO_MEM char *same = js_print(again); /* by text: 15 digits of a real may round once */
    assert(strcmp(text, same) == 0);
    return 0;
}
