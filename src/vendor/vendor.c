/* A table of loops, filled before they run and only read after: no lock is needed. */
#include "vendor/vendor.h"

#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "vendor/internal.h"
#include "vendor/lane.h"
#include "vendor/trunk.h"
#include "vendor/voice_pool.h"

enum {
    LOOPS_MAX = 130, /* 64 media loops, the others, and room */
    MASKED_MIN = 4,  /* characters */
};

struct vendor {
    char *voice_path;
    unsigned voice_workers;
    struct vendor_loop loops[LOOPS_MAX];
    size_t loop_count;
};

struct vendor *vendor_new(const struct vendor_config *config)
{
    struct vendor *vendor = mem_new(struct vendor);
    const char *path = config->voice_path ? config->voice_path : "";
    vendor->voice_path = *path && access(path, X_OK) == 0 ? mem_strdup(path) : NULL;
    vendor->voice_workers = config->voice_workers;
    return vendor;
}

static int drop_lane(void *arg, const void *key, size_t key_len, void *value)
{
    (void)arg, (void)key, (void)key_len;
    lane_free(value);
    return 0;
}

void vendor_free(struct vendor *vendor)
{
    if (!vendor)
        return;
    for (size_t i = 0; i < vendor->loop_count; i++) {
        voice_pool_free(vendor->loops[i].voices);
        trunks_close(&vendor->loops[i]);
        map_each(vendor->loops[i].lanes, drop_lane, NULL);
        map_free(vendor->loops[i].lanes);
    }
    mem_free(vendor->voice_path);
    mem_free(vendor);
}

void vendor_add_loop(struct vendor *vendor, struct loop *loop, struct http_client *http,
                     struct dialer *dialer)
{
    if (vendor->loop_count == LOOPS_MAX)
        return;
    struct vendor_loop *here = &vendor->loops[vendor->loop_count++];
    here->loop = loop;
    here->http = http;
    here->dialer = dialer;
    here->lanes = map_new();
    list_init(&here->trunks);
    if (vendor->voice_path)
        here->voices = voice_pool_new(loop, vendor->voice_path, vendor->voice_workers);
}

struct vendor_loop *vendor_loop_of(struct vendor *vendor, const struct loop *loop)
{
    for (size_t i = 0; i < vendor->loop_count; i++)
        if (vendor->loops[i].loop == loop)
            return &vendor->loops[i];
    return NULL;
}

void vendor_mask(struct buf *text, const char *secret)
{
    size_t len = secret ? strlen(secret) : 0;
    if (len < MASKED_MIN || text->len == 0)
        return;
    for (char *at = text->data; (at = strstr(at, secret)); at += len)
        memset(at, '*', len);
    for (size_t kept = MIN(len - 1, text->len); kept >= MASKED_MIN; kept--) {
        char *end = text->data + text->len - kept;
        if (memcmp(end, secret, kept) == 0)
            memset(end, '*', kept); /* where the text was cut in the middle of it */
    }
}

/* A node's requests are shared out to its loops, as its calls are. */
size_t vendor_share(const struct vendor *vendor, size_t all)
{
    return (all + vendor->loop_count - 1) / vendor->loop_count;
}

struct lane *vendor_lane(const struct vendor *vendor, struct vendor_loop *here, const char *engine,
                         const struct lane_limits *limits)
{
    struct lane *lane = map_get_str(here->lanes, engine);
    if (lane)
        return lane;
    size_t all = vendor_share(vendor, limits->all);
    size_t workspace = vendor_share(vendor, limits->workspace);
    lane = lane_new(here->loop, &(struct lane_limits){all, MIN(workspace, all)});
    map_set_str(here->lanes, engine, lane);
    return lane;
}

static bool vendor_has_voice(const struct vendor *vendor)
{
    return vendor->voice_path != NULL;
}

/* The embedded engines share the vendor as their state. */
bool voice_configure(void *env, const struct config *config, const struct engine_info *info,
                     void **out_state)
{
    (void)config;
    (void)info;
    *out_state = env;
    return vendor_has_voice(env);
}
