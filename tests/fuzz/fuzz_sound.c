/* Sound of vendors, bare or WAV, whole and cut as the first byte says: both must sound alike. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/attr.h"
#include "base/buf.h"
#include "vendor/sound.h"

static void on_samples(void *arg, const int16_t *samples, size_t count)
{
    (void)buf_append(arg, samples, count * sizeof(*samples));
}

static void read_all(const char *data, size_t len, size_t step, struct buf *out)
{
    struct sound sound;
    sound_init(&sound, 48000, on_samples, out);
    bool is_fine = true;
    for (size_t at = 0; at < len && is_fine; at += step)
        is_fine = sound_push(&sound, data + at, MIN(step, len - at));
    is_fine = is_fine && sound_finish(&sound);
    (void)buf_append_char(out, is_fine ? 'y' : 'n');
    (void)buf_printf(out, "%d", sound.channels);
    sound_clear(&sound);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0 || size > 65536)
        return 0;
    const char *data = (const char *)bytes + 1;
    AUTO_BUF whole = BUF_INIT(1 << 22);
    AUTO_BUF cut = BUF_INIT(1 << 22);
    read_all(data, size - 1, size, &whole);
    read_all(data, size - 1, 1 + bytes[0] % 16u, &cut);
    assert(whole.data[whole.len - 2] == cut.data[cut.len - 2]); /* one verdict */
    if (whole.len == cut.len && whole.len <= size + 8) /* not resampled: the very samples */
        assert(memcmp(whole.data, cut.data, cut.len) == 0);
    return 0;
}
