#include "net/udp.h"

#include "base/loop.h"
#include "turn.h"

/* A socket that counts, keeps the last packet's facts and, if asked, echoes. */
struct end {
    struct udp *udp;
    size_t got;
    size_t wanted;
    struct net_addr peer, local;
    size_t last_len;
    bool echoes;
};

static void on_packets(void *arg, const struct udp_packet *packets, size_t count, int64_t now_us)
{
    struct end *end = arg;
    CHECK(now_us > 0);
    for (size_t i = 0; i < count; i++) {
        end->peer = packets[i].peer;
        end->local = packets[i].local;
        end->last_len = packets[i].len;
        if (end->echoes)
            udp_send(end->udp, &packets[i].local, &packets[i].peer, packets[i].data,
                     packets[i].len);
    }
    end->got += count;
    if (end->echoes)
        udp_flush(end->udp);
}

static bool has_enough(void *arg)
{
    struct end *end = arg;
    return end->got >= end->wanted;
}

static bool open_end(struct loop *loop, const char *address, struct end *end)
{
    struct net_addr addr;
    struct fault fault = {0};
    if (net_addr_parse(address, &addr) != OK ||
        udp_open(loop, &addr, on_packets, end, &end->udp, &fault) != OK) {
        CHECK_TEXT(fault.text, "opened");
        return false;
    }
    return true;
}

TEST(packets_come_in_batches_and_answers_leave_from_where_they_came_to)
{
    AUTO(loop) loop = loop_new("test");
    struct end server = {.echoes = true}, client = {.wanted = 200};
    REQUIRE(open_end(loop, "0.0.0.0:0", &server) && open_end(loop, "127.0.0.1:0", &client));
    struct net_addr to = net_addr_ipv4(127, 0, 0, 77, udp_address(server.udp).port);
    for (int i = 0; i < 200; i++)
        CHECK(udp_send(client.udp, NULL, &to, "hello", 5) == OK);
    udp_flush(client.udp);
    CHECK(turn_until(loop, has_enough, &client));
    CHECK(net_addr_equal(&client.peer, &to)); /* not 127.0.0.1 */
    CHECK(net_addr_equal(&server.local, &to));
    CHECK_INT(client.last_len, 5);
    struct udp_stats stats;
    udp_stats(server.udp, &stats);
    CHECK_INT(stats.received, 200);
    CHECK_INT(stats.sent, 200);
    udp_close(server.udp);
    udp_close(client.udp);
}

TEST(a_socket_on_both_families_answers_both)
{
    AUTO(loop) loop = loop_new("test");
    struct end server = {.echoes = true}, four = {.wanted = 1}, six = {.wanted = 1};
    REQUIRE(open_end(loop, "[::]:0", &server));
    REQUIRE(open_end(loop, "127.0.0.1:0", &four) && open_end(loop, "[::1]:0", &six));
    struct net_addr to4 = net_addr_ipv4(127, 0, 0, 9, udp_address(server.udp).port), to6;
    REQUIRE(net_ip_parse("::1", &to6) == OK);
    to6.port = to4.port;
    udp_send(four.udp, NULL, &to4, "4", 1);
    udp_send(six.udp, NULL, &to6, "66", 2);
    udp_flush(four.udp);
    udp_flush(six.udp);
    CHECK(turn_until(loop, has_enough, &four) && turn_until(loop, has_enough, &six));
    CHECK(net_addr_equal(&four.peer, &to4));
    CHECK(net_addr_equal(&six.peer, &to6));
    udp_close(server.udp);
    udp_close(four.udp);
    udp_close(six.udp);
}

TEST(long_packets_are_neither_sent_nor_taken)
{
    AUTO(loop) loop = loop_new("test");
    struct end server = {.wanted = 1}, client = {0};
    static const char zeros[UDP_PACKET_MAX + 1];
    REQUIRE(open_end(loop, "127.0.0.1:0", &server) && open_end(loop, "127.0.0.1:0", &client));
    struct net_addr to = udp_address(server.udp);
    CHECK_INT(udp_send(client.udp, NULL, &to, zeros, sizeof(zeros)), ERR_LIMIT);
    CHECK(udp_send(client.udp, NULL, &to, zeros, UDP_PACKET_MAX) == OK);
    udp_flush(client.udp);
    CHECK(turn_until(loop, has_enough, &server));
    CHECK_INT(server.last_len, UDP_PACKET_MAX);
    udp_close(server.udp);
    udp_close(client.udp);
}

TEST(a_taken_port_is_a_fault)
{
    AUTO(loop) loop = loop_new("test");
    struct end first = {0}, second = {0};
    REQUIRE(open_end(loop, "127.0.0.1:0", &first));
    struct net_addr addr = udp_address(first.udp);
    struct fault fault = {0};
    CHECK_INT(udp_open(loop, &addr, on_packets, &second, &second.udp, &fault), ERR_IO);
    CHECK(strstr(fault.text, "in use"));
    udp_close(first.udp);
}
