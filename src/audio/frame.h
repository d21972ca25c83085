/* What a caller said in 20 ms, and the rates of the two directions: 16 kHz in (the decoder does the
 * resampling), 48 kHz out. Plain data. */
#pragma once

#include <stdint.h>

enum {
    AUDIO_FRAME_MS = 20,
    AUDIO_FRAME_US = 20000,
    AUDIO_IN_RATE_HZ = 16000,
    AUDIO_OUT_RATE_HZ = 48000,
    AUDIO_IN_SAMPLES = 320,  /* of a frame, caller to agent */
    AUDIO_OUT_SAMPLES = 960, /* of a frame, agent to caller */
};

enum audio_source {
    AUDIO_HEARD,     /* decoded from a packet */
    AUDIO_CONCEALED, /* a lost packet, rebuilt */
    AUDIO_SILENCE,   /* nothing was sent (muted, discontinuous transmission, packets away) */
};

struct audio_frame {
    int16_t samples[AUDIO_IN_SAMPLES];
    enum audio_source source;
};
