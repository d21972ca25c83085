/* WAV files: what is read can be written and read again. */
#include "fuzz.h"

#include <assert.h>

#include "audio/wav.h"

enum { MOST_SAMPLES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wav wav, again;
    struct fault fault = {0};
    if (wav_parse(data, size, MOST_SAMPLES, &wav, &fault) != OK) {
        assert(fault.text[0]);
        return 0;
    }
    assert(wav.count <= MOST_SAMPLES && wav.rate_hz >= 8000 && wav.rate_hz <= 96000);
    AUTO_BUF file = BUF_INIT(64 + 2 * MOST_SAMPLES);
    enum err err = wav_write(&file, wav.rate_hz, wav.samples, wav.count);
    assert(err == OK);
    err = wav_parse(file.data, file.len, MOST_SAMPLES, &again, NULL);
    assert(err == OK && again.count == wav.count);
    wav_clear(&again);
    wav_clear(&wav);
    return 0;
}
