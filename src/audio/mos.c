#include "audio/mos.h"

#include <math.h>

double mos_of(double loss, double jitter_ms)
{
    double rating = 93.2 - 0.024 * (jitter_ms * 2 + 40) - 30 * log(1 + 15 * loss);
    if (rating < 0)
        return 1;
    return 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6;
}
