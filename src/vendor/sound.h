/* Sound as vendors deliver it (16-bit samples, little-endian, in pieces that may end inside a
 * sample, at a rate of their own, alone or as a WAV file; Opus in Ogg, or packet by packet) turned
 * into samples at TTS_RATE_HZ, or into packets where Opus goes on as it is (vendor/relay.h).
 * Thread: its owner's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay;
struct resampler;

enum { SOUND_HEAD_SIZE = 4096 };

typedef void sound_fn(void *arg, const int16_t *samples, size_t count);
typedef void sound_packet_fn(void *arg, const uint8_t *packet, size_t bytes); /* 20 ms of Opus */

struct sound {
    int rate_hz;  /* of raw samples; a WAV file says its own */
    int channels; /* of a WAV file: the first is taken */
    sound_fn *on_samples;
    sound_packet_fn *on_packet; /* NULL: all is to be samples */
    void *arg;
    struct relay *relay;           /* NULL: it is no Ogg file */
    struct resampler *resampler;   /* NULL: the rate is TTS_RATE_HZ, or nothing came yet */
    uint8_t head[SOUND_HEAD_SIZE]; /* the beginning, until it is known what it is */
    size_t head_len;
    uint8_t part[8]; /* a frame that is not whole yet */
    size_t part_len;
    bool is_file;    /* raw samples are not what was asked for */
    bool is_packets; /* each piece is a packet of Opus, in no container */
    bool is_known;   /* raw samples, Ogg, or past a WAV file's head */
    bool is_broken;  /* no sound that we read */
};

/* rate_hz: 8,000 to 96,000. */
void sound_init(struct sound *sound, int rate_hz, sound_fn *on_samples, void *arg);
void sound_clear(struct sound *sound);
/* A new sound begins. */
void sound_reset(struct sound *sound);
/* False: it is no sound that can be read (otherwise compressed, damaged, or a WAV file of another
 * kind). */
bool sound_push(struct sound *sound, const void *data, size_t len);
/* The sound has ended: what is held back comes. False: it was cut before anything could be
 * read, or within an Ogg file's page. */
bool sound_finish(struct sound *sound);
