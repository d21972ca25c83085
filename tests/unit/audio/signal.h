/* Sounds for tests: something like a voice, and noise, both the same on every run. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A voiced sound: pulses of 120 Hz through three formants, with a syllable every 200 ms. */
void signal_voice(int16_t *out, size_t count, int rate_hz, double amplitude);
void signal_noise(int16_t *out, size_t count, double amplitude);
void signal_tone(int16_t *out, size_t count, int rate_hz, double hz, double amplitude);
double signal_rms(const int16_t *samples, size_t count);
/* Power of one frequency, as an amplitude (Goertzel). */
double signal_at(const int16_t *samples, size_t count, int rate_hz, double hz);
