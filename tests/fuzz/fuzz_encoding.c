/* Small readers of outside text: base64, sealed secrets, times, keys, UTF-8, JSON strings. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/ids.h"
#include "base/js.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { ROOM_BYTES = 1 << 22 };

static void decode(const char *text, size_t size)
{
    AUTO_BUF bytes = BUF_INIT(ROOM_BYTES), coded = BUF_INIT(ROOM_BYTES),
             back = BUF_INIT(ROOM_BYTES);
    if (base64_decode(text, size, &bytes))
        return;
    enum err err = base64url_encode(bytes.data, bytes.len, &coded);
    assert(err == OK);
    err = base64_decode(coded.data ? coded.data : "", coded.len, &back);
    assert(err == OK && back.len == bytes.len);
    assert(back.len == 0 || memcmp(back.data, bytes.data, back.len) == 0);
}

/* A string of any bytes becomes JSON that is strict. */
static void write_string(const char *text, size_t size)
{
    AUTO_BUF written = BUF_INIT(ROOM_BYTES);
    struct js_out out;
    js_out_init(&out, &written);
    js_out_text_n(&out, text, size);
    AUTO(js) tree = NULL;
    enum err err = js_parse(written.data, written.len, 1, &tree, NULL);
    assert(err == OK && js_type(tree) == JS_STRING);
    assert(!utf8_is_valid(text, size) || memchr(text, '\0', size) || js_text_len(tree) == size);
    AUTO(js) built = js_string_n(text, size);
    assert(js_equal(built, tree));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t key[MASTER_KEY_BYTES];
    const char *bytes = (const char *)data;
    AUTO_BUF open = BUF_INIT(ROOM_BYTES);
    int64_t wall_ms;
    char iso[CLOCK_ISO_SIZE];
    decode(bytes, size);
    write_string(bytes, size);
    assert(crypto_open(key, "fuzz", bytes, size, &open) != OK);
    AUTO_MEM char *text = mem_strndup(bytes, size);
    assert(utf8_count(text) <= strlen(text));
    if (clock_parse_iso(text, &wall_ms) && wall_ms > 0)
        clock_iso(wall_ms, iso);
    assert(!key_is_valid(text) || strlen(text) == 41);
    return 0;
}
