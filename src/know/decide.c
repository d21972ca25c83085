/* How likely a passage is the answer, by its signs. Thread: a store thread. */
#include <math.h>

#include "know/internal.h"
#include "know/weights.def"

_Static_assert(sizeof(weights) == SIGNS * sizeof(*weights), "a weight for each sign");

double decide(const double signs[SIGNS])
{
    double sum = weight_of_all;
    for (unsigned sign = 0; sign < SIGNS; sign++)
        sum += weights[sign] * signs[sign];
    return 1 / (1 + exp(-sum));
}
