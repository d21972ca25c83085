#include "api/admission.h"

#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/mem.h"
#include "base/quota.h"

/* For one address and for one workspace, of all; 0: no ceiling of its own. */
static const int64_t own_parts[SHARE_COUNT] = {[SHARE_PLACES] = 4, [SHARE_STREAMS] = 10};

struct admission {
    struct quota *by_site[SHARE_COUNT], *by_workspace[SHARE_COUNT];
};

struct admission *admission_new(const struct config *config)
{
    struct admission *admission = mem_new(struct admission);
    const int64_t totals[SHARE_COUNT] = {
        [SHARE_PLACES] = config_int(config, SET_HTTP_REQUESTS),
        [SHARE_MEMORY] = config_int(config, SET_HTTP_BODY_MEMORY) << 20,
        [SHARE_STREAMS] = config_int(config, SET_HTTP_STREAMS),
        [SHARE_DISK] = config_int(config, SET_HTTP_BODY_DISK) << 20,
    };
    for (int i = 0; i < SHARE_COUNT; i++) {
        int64_t own = own_parts[i] ? MAX(totals[i] / own_parts[i], INT64_C(1)) : 0;
        admission->by_site[i] = quota_new(totals[i], own);
        admission->by_workspace[i] = quota_new(totals[i], own);
    }
    return admission;
}

void admission_free(struct admission *admission)
{
    if (!admission)
        return;
    for (int i = 0; i < SHARE_COUNT; i++) {
        quota_free(admission->by_site[i]);
        quota_free(admission->by_workspace[i]);
    }
    mem_free(admission);
}

bool admission_take(struct admission *admission, struct admitted *who, enum admission_share share,
                    int64_t amount)
{
    if (!quota_take(admission->by_site[share], who->site, amount))
        return false;
    if (*who->workspace && !quota_take(admission->by_workspace[share], who->workspace, amount)) {
        quota_give(admission->by_site[share], who->site, amount);
        return false;
    }
    who->held[share] += amount;
    return true;
}

bool admission_know(struct admission *admission, struct admitted *who, const char *workspace_id,
                    bool is_visitor)
{
    char name[sizeof(who->workspace)];
    snprintf(name, sizeof(name), "%s%s", workspace_id, is_visitor ? "/pk" : "");
    for (int i = 0; i < SHARE_COUNT; i++) {
        if (quota_take(admission->by_workspace[i], name, who->held[i]))
            continue;
        while (i-- > 0)
            quota_give(admission->by_workspace[i], name, who->held[i]);
        return false;
    }
    memcpy(who->workspace, name, sizeof(name));
    return true;
}

void admission_give(struct admission *admission, struct admitted *who, enum admission_share share)
{
    quota_give(admission->by_site[share], who->site, who->held[share]);
    if (*who->workspace)
        quota_give(admission->by_workspace[share], who->workspace, who->held[share]);
    who->held[share] = 0;
}

void admission_leave(struct admission *admission, struct admitted *who)
{
    for (int i = 0; i < SHARE_COUNT; i++)
        admission_give(admission, who, (enum admission_share)i);
}

bool admission_is_own(const struct admission *admission, const struct admitted *who,
                      enum admission_share share)
{
    return quota_held(admission->by_site[share], who->site) > who->held[share] ||
           (*who->workspace &&
            quota_held(admission->by_workspace[share], who->workspace) > who->held[share]);
}
