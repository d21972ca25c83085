/* When money runs out: see money.h. Thread: any. */
#include "store/money.h"

int64_t money_exhausted_ms(const struct balance *balance)
{
    if (balance->burn_usd4 <= 0)
        return MONEY_NEVER_MS;
    int64_t left = balance->balance_usd4 * MONEY_SCALE - balance->owed;
    int64_t at_ms = balance->as_of_ms + (left > 0 ? left / balance->burn_usd4 : 0);
    return at_ms < MONEY_NEVER_MS ? at_ms : MONEY_NEVER_MS;
}
