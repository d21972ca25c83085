/* A name server of the test's own on the test's loop, that can change its answers: A questions are
 * answered with the addresses set, AAAA with none; names that begin with "dead" get no answer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"

struct loop;

struct name_server {
    struct udp *udp;
    char address[NET_ADDR_SIZE]; /* as resolver_new() takes it */
    uint8_t ips[4][4];
    size_t count;
    uint32_t ttl_s;
    bool says_no_such_name, says_failed, is_silent;
    int questions;
    int dead_under_way; /* different dead names that were asked for */
    uint16_t ports[64]; /* that questions came from, the last ones */
};

void name_server_open(struct name_server *server, struct loop *loop);
void name_server_close(struct name_server *server);
void name_server_say(struct name_server *server, size_t count, const uint8_t ips[][4]);
