/* The store of the settings, opened for one job or for the service. */
#include "cli/local_store.h"

#include <ctype.h>
#include <string.h>

#include "base/config.h"

enum { WHOLE_DIGITS_MAX = 12, DECIMALS = 4 };

enum err local_store_open(const struct config *config, struct store **out, struct fault *fault)
{
    const struct store_config store = {
        .data_dir = config_text(config, SET_DATA),
        .database_url = config_text(config, SET_DATABASE_URL),
        .master_key = config_text(config, SET_MASTER_KEY),
        .node_name = config_text(config, SET_NODE),
        .connections = (unsigned)config_int(config, SET_DATABASE_CONNECTIONS),
        .starts_later = true,
    };
    return store_open(&store, out, fault);
}

enum err local_store_run(const struct config *config, enum store_mode mode, store_fn *fn, void *arg,
                         struct fault *fault)
{
    struct store *store = NULL;
    enum err err = local_store_open(config, &store, fault);
    if (err)
        return err;
    err = store_run(store, mode, fn, arg, fault);
    store_close(store);
    return err;
}

enum err parse_usd4(const char *text, int64_t *out, struct fault *fault)
{
    const char *c = text;
    bool is_negative = *c == '-';
    c += is_negative;
    int64_t value = 0;
    int whole = 0, decimals = 0;
    for (; isdigit((unsigned char)*c) && whole < WHOLE_DIGITS_MAX; c++, whole++)
        value = value * 10 + (*c - '0');
    if (*c == '.') {
        for (c++; isdigit((unsigned char)*c) && decimals < DECIMALS; c++, decimals++)
            value = value * 10 + (*c - '0');
    }
    if (*c || whole == 0)
        return fault_set(fault, ERR_INVALID, "'%.40s' is no amount of USD", text);
    for (; decimals < DECIMALS; decimals++)
        value *= 10;
    *out = is_negative ? -value : value;
    return OK;
}
