/* When money runs out: see money.h. Thread: any. */
#include "store/money.h"

#include "base/attr.h"

/* More says nothing further, and would not fit when it is scaled. */
#define BALANCE_MAX_USD4 (INT64_MAX / 2 / MONEY_SCALE)

int64_t money_left_ms(int64_t balance_usd4, const struct money_use *uses, size_t count)
{
    int64_t left = MIN(balance_usd4, BALANCE_MAX_USD4) * MONEY_SCALE, rate_usd4 = 0;
    for (size_t i = 0; i < count; i++) {
        left -= uses[i].rate_usd4 * uses[i].used_ms - uses[i].taken_usd4 * MONEY_SCALE;
        rate_usd4 += uses[i].rate_usd4;
    }
    if (rate_usd4 <= 0)
        return MONEY_NEVER_MS;
    int64_t ms =
        left / rate_usd4 - (left % rate_usd4 < 0); /* down: nobody is given a moment more */
    return MIN(ms, MONEY_NEVER_MS);
}
