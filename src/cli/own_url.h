/* The URL that clients reach this node by: service.public_url, else made of where it listens. For
 * the service, and for the commands that print links into it. Thread: any. */
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "net/addr.h"

struct config;

enum { OWN_URL_SIZE = 256 };

/* Do the settings that the URL is made of hold? ERR_INVALID names the one that does not. */
enum err own_url_check(const struct config *config, struct fault *fault) MUST_USE;
/* Does a service that listens there have a certificate: a given one, or one of its own? */
bool own_url_has_tls(const struct config *config, const struct net_addr *listen);
/* Of settings that were checked. Without a slash at its end. For any address: the machine's first.
 */
void own_url(const struct config *config, const struct net_addr *listen, char out[OWN_URL_SIZE]);
