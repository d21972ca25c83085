/* Writes what the stand-ins of the vendors say in Opus (vendors/ogg.mjs): eight seconds of a hum
 * whose pitch goes up and down, so that no packet is like another, in Ogg, 20 ms a packet.
 * `build/tests/fake/hum > tests/fake/vendors/hum.opus`. */
#include <math.h>
#include <stdio.h>

#include "../unit/audio/ogg_file.h"
#include "audio/codec.h"

enum { SECONDS = 8, FRAMES = SECONDS * 50, FILE_MAX_BYTES = 1 << 20 };

int main(void)
{
    AUTO_BUF bytes = BUF_INIT(FILE_MAX_BYTES);
    struct ogg_file file = {.out = &bytes, .skip = 312, .packets_a_page = 50};
    AUTO(codec_encoder) encoder = codec_encoder_new(CODEC_VOIP);
    double phase = 0;
    for (int frame = 0; frame < FRAMES; frame++) {
        int16_t samples[AUDIO_OUT_SAMPLES];
        uint8_t packet[CODEC_PACKET_MAX_BYTES];
        for (int i = 0; i < AUDIO_OUT_SAMPLES; i++) {
            double at_s = (frame + i / (double)AUDIO_OUT_SAMPLES) * AUDIO_FRAME_MS / 1000;
            phase += 2 * 3.14159265358979 * (220 + 40 * sin(at_s)) / AUDIO_OUT_RATE_HZ;
            samples[i] = (int16_t)(6000 * sin(phase) + 2000 * sin(2 * phase));
        }
        ogg_file_packet(&file, packet, codec_encode(encoder, samples, packet));
    }
    ogg_file_end(&file);
    return fwrite(bytes.data, 1, bytes.len, stdout) == bytes.len ? 0 : 1;
}
