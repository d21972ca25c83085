#include "vendor/account.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/config.h"
#include "base/mem.h"
#include "engine/registry.h"
#include "net/url.h"
#include "vendor/internal.h"

enum { REQUESTS_MAX = 400, REQUESTS_OF_A_WORKSPACE = 100, ENCODED_MAX_BYTES = 8192 };

static void note_secrets(struct account *account)
{
    const char *host = strstr(account->url, "://"), *query = strchr(account->url, '?');
    host = host ? host + 3 : account->url;
    const char *at = memrchr(host, '@', strcspn(host, "/?#"));
    account->secrets[0] = mem_strdup(account->key);
    account->secrets[1] = at ? mem_strndup(host, (size_t)(at - host)) : NULL;
    account->secrets[2] = query ? mem_strdup(query + 1) : NULL;
}

static size_t read_limit(const struct config *config, const struct engine_info *info,
                         const char *name, size_t standard)
{
    const char *text = config_engine(config, info->id, name);
    long long limit = text && *text ? strtoll(text, NULL, 10) : 0;
    return limit > 0 ? (size_t)limit : standard;
}

bool account_read(struct account *account, struct vendor *vendor, const struct config *config,
                  const struct engine_info *info, const struct account_plan *plan)
{
    const char *url = config_engine(config, info->id, "url");
    const char *key = config_engine(config, info->id, "key");
    bool has_url = url && *url, has_key = key && *key;
    if ((plan->needs == ACCOUNT_NEEDS_KEY && !has_key) ||
        (plan->needs == ACCOUNT_NEEDS_URL && !has_url) || (!has_url && !has_key))
        return false;
    url = has_url ? url : plan->url;
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    *account = (struct account){.vendor = vendor, .engine = info->id};
    account->url = mem_strndup(url, len);
    account->key = has_key ? mem_strdup(key) : NULL;
    account->limits = (struct lane_limits){
        read_limit(config, info, "max_requests", REQUESTS_MAX),
        read_limit(config, info, "max_requests_per_workspace", REQUESTS_OF_A_WORKSPACE)};
    note_secrets(account);
    return true;
}

void account_clear(struct account *account)
{
    mem_free(account->url);
    mem_free(account->key);
    for (size_t i = 0; i < ACCOUNT_SECRETS; i++)
        mem_free(account->secrets[i]);
}

char *account_option(const struct config *config, const struct engine_info *info, const char *name)
{
    const char *text = config_engine(config, info->id, name);
    return mem_strdup(text ? text : "");
}

void account_mask(const struct account *account, struct buf *text)
{
    for (size_t i = 0; i < ACCOUNT_SECRETS; i++) {
        const char *secret = account->secrets[i];
        AUTO_BUF encoded = BUF_INIT(ENCODED_MAX_BYTES);
        vendor_mask(text, secret);
        if (secret && url_encode(secret, strlen(secret), &encoded) == OK)
            vendor_mask(text, encoded.data);
    }
}
