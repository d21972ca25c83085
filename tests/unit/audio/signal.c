#include "signal.h"

#include <math.h>

#include "base/attr.h"

static const double TWO_PI = 6.283185307179586;

void signal_voice(int16_t *out, size_t count, int rate_hz, double amplitude)
{
    static const double formants[] = {700, 1220, 2600};
    for (size_t i = 0; i < count; i++) {
        double t = (double)i / rate_hz, sum = 0;
        for (int h = 1; h <= 25; h++) {
            double hz = 120.0 * h, gain = 0;
            for (size_t f = 0; f < ARRAY_LEN(formants); f++)
                gain += exp(-pow((hz - formants[f]) / 150, 2)) / (double)(f + 1);
            sum += (gain + 0.02) * sin(TWO_PI * hz * t + h);
        }
        double syllable = 0.55 - 0.45 * cos(TWO_PI * t / 0.2);
        out[i] = (int16_t)(amplitude * syllable * sum / 3);
    }
}

void signal_noise(int16_t *out, size_t count, double amplitude)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        out[i] = (int16_t)(amplitude * ((double)(state >> 8) / (1 << 23) - 1));
    }
}

void signal_tone(int16_t *out, size_t count, int rate_hz, double hz, double amplitude)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (int16_t)(amplitude * sin(TWO_PI * hz * (double)i / rate_hz));
}

double signal_rms(const int16_t *samples, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)samples[i] * samples[i];
    return count ? sqrt(sum / (double)count) : 0;
}

double signal_at(const int16_t *samples, size_t count, int rate_hz, double hz)
{
    double re = 0, im = 0;
    for (size_t i = 0; i < count; i++) {
        re += samples[i] * cos(TWO_PI * hz * (double)i / rate_hz);
        im += samples[i] * sin(TWO_PI * hz * (double)i / rate_hz);
    }
    return 2 * sqrt(re * re + im * im) / (double)count;
}
