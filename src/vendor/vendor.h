/* Every adapter, and what the sessions of one process share: the HTTP client of each loop, and the
 * worker processes of embedded speech. app_parts.c makes one vendor, tells it of each loop that
 * will carry calls, and hands it to registry_new() as the adapters' environment.
 *
 *     vendor_new, vendor_add_loop (each) -> registry_new(vendor_adapters, vendor) -> loops run
 *     loops have ended -> registry_free -> vendor_free -> loops are freed
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"
#include "engine/registry.h"

struct dialer;
struct http_client;
struct loop;
struct vendor;

struct vendor_config {
    const char *voice_path; /* the program earshot-voice; "" or not there: embedded speech is off */
    unsigned voice_workers; /* most processes, for each loop and each of hearing and speaking */
};

extern const struct engine_adapter vendor_adapters[];
extern const size_t vendor_adapter_count;

struct vendor *vendor_new(const struct vendor_config *config);
void vendor_free(struct vendor *vendor); /* workers are killed */
DEFINE_AUTO(vendor)
/* Before the loop runs. http and dialer are borrowed (NULL: no network engines on this loop). */
void vendor_add_loop(struct vendor *vendor, struct loop *loop, struct http_client *http,
                     struct dialer *dialer);
