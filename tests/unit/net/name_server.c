#include "name_server.h"

#include <string.h>
#include <strings.h>

#include "net/udp.h"
#include "test.h"

enum { HEAD_BYTES = 12, RECORD_BYTES = 16, NAME_ERROR = 3, SERVER_FAILURE = 2 };

static size_t add_records(const struct name_server *server, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < server->count; i++) {
        const uint8_t ttl[] = {(uint8_t)(server->ttl_s >> 24), (uint8_t)(server->ttl_s >> 16),
                               (uint8_t)(server->ttl_s >> 8), (uint8_t)server->ttl_s};
        const uint8_t head[] = {0xc0, HEAD_BYTES, 0, 1, 0, 1, ttl[0], ttl[1], ttl[2], ttl[3], 0, 4};
        memcpy(out + len, head, sizeof(head));
        memcpy(out + len + sizeof(head), server->ips[i], 4);
        len += RECORD_BYTES;
    }
    return len;
}

static void answer(struct name_server *server, const struct udp_packet *question)
{
    uint8_t out[512] = {0};
    size_t end = HEAD_BYTES; /* of the question's name */
    if (question->len > 300)
        return;
    memcpy(out, question->data, question->len);
    server->ports[server->questions++ % 64] = question->peer.port;
    while (end < question->len && out[end])
        end += out[end] + 1u;
    bool is_a = out[end + 2] == 1;
    bool is_dead = strncasecmp((const char *)out + HEAD_BYTES + 1, "dead", 4) == 0;
    server->dead_under_way += is_dead && is_a;
    if (server->is_silent || is_dead)
        return;
    bool has_failed = server->says_failed || server->says_no_such_name;
    size_t count = is_a && !has_failed ? server->count : 0;
    out[2] = 0x81;
    out[3] = (uint8_t)(0x80 | (server->says_failed         ? SERVER_FAILURE
                               : server->says_no_such_name ? NAME_ERROR
                                                           : 0));
    memset(out + 6, 0, 6);
    out[7] = (uint8_t)count;
    size_t len = count > 0 ? add_records(server, out, end + 5) : end + 5;
    udp_send(server->udp, &question->local, &question->peer, out, len);
}

static void on_question(void *arg, const struct udp_packet *packets, size_t count, int64_t now_us)
{
    struct name_server *server = arg;
    (void)now_us;
    for (size_t i = 0; i < count; i++)
        answer(server, &packets[i]);
    udp_flush(server->udp);
}

void name_server_open(struct name_server *server, struct loop *loop)
{
    struct net_addr any = net_addr_ipv4(127, 0, 0, 1, 0);
    *server = (struct name_server){0};
    CHECK(udp_open(loop, &any, on_question, server, &server->udp, NULL) == OK);
    struct net_addr address = udp_address(server->udp);
    net_addr_print(&address, server->address);
}

void name_server_close(struct name_server *server)
{
    udp_close(server->udp);
}

void name_server_say(struct name_server *server, size_t count, const uint8_t ips[][4])
{
    server->count = count;
    memcpy(server->ips, ips, count * 4);
}
