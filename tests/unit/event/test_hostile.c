/* Deliveries to receivers that break the rules: each is settled in its time, little is read of what
 * it sends, and the other receiver gets the same event at once. */
#include <stdio.h>
#include <string.h>

#include "../net/hostile_server.h"
#include "unit/event/office.h"

enum { READ_MAX_BYTES = 8 << 20 }; /* what four attempts may take, with what sockets hold */

/* One event for the hostile receiver and for one that answers. */
static struct delivery deliver_within(struct fix *fix, struct hostile_server *hostile,
                                      int64_t answer_ms)
{
    char url[64];
    struct post_office office;
    office_open(&office, fix, 0, answer_ms);
    hostile_server_open(hostile, office.loop);
    snprintf(url, sizeof(url), "http://127.0.0.1:%u/", hostile->port);
    const char *id = subscribe(&office, url, "*");
    subscribe(&office, url_to(&office, "/good"), "*");
    emit(&office, "", NULL, 0, 1);
    CHECK(wait_post_at(&office, "/good"));
    CHECK(posts_at(&office, "/good") == 1 || answer_ms == SHORT_MS);
    struct delivery delivery = settled(&office, id);
    CHECK(hostile->sent_bytes < READ_MAX_BYTES);
    hostile_server_close(hostile);
    office_close(&office);
    return delivery;
}

static struct delivery deliver_to(struct fix *fix, struct hostile_server *hostile)
{
    return deliver_within(fix, hostile, PROMPT_MS);
}

static void check_failed(const struct delivery *delivery, int status)
{
    CHECK_INT(delivery->state, DELIVERY_FAILED);
    CHECK_INT(delivery->attempts, 4);
    CHECK_INT(delivery->status, status);
}

STORE_TEST(an_answer_without_end_is_not_read_to_its_end)
{
    static char body[65537];
    memset(body, 'x', sizeof(body) - 1);
    struct hostile_server hostile = {
        .first = "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n", .again = body};
    struct delivery delivery = deliver_to(fix, &hostile);
    CHECK_INT(delivery.state, DELIVERY_DELIVERED);
    CHECK_INT(delivery.attempts, 1);
    CHECK_INT(delivery.status, 200);
}

/* The status is what counts, from the moment it has come. */
STORE_TEST(a_head_without_end_counts_by_its_status)
{
    static const char again[] = "X-More: and more, and more, and more, and more\r\n";
    struct hostile_server good = {.first = "HTTP/1.1 200 OK\r\n", .again = again};
    struct hostile_server bad = {.first = "HTTP/1.1 500 No\r\n", .again = again};
    struct delivery delivered = deliver_to(fix, &good);
    CHECK_INT(delivered.state, DELIVERY_DELIVERED);
    CHECK_INT(delivered.attempts, 1);
    struct delivery failed = deliver_to(fix, &bad);
    check_failed(&failed, 500);
}

STORE_TEST(a_head_that_trickles_is_a_failure)
{
    struct hostile_server hostile = {.first = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                                     .pause_us = 50000};
    struct delivery delivery = deliver_within(fix, &hostile, SHORT_MS);
    check_failed(&delivery, 0);
}

STORE_TEST(continue_without_end_is_a_failure)
{
    struct hostile_server hostile = {.first = "HTTP/1.1 100 Continue\r\n\r\n",
                                     .again = "HTTP/1.1 100 Continue\r\n\r\n"};
    struct delivery delivery = deliver_within(fix, &hostile, SHORT_MS);
    check_failed(&delivery, 0);
}

STORE_TEST(continue_once_before_the_answer_does_no_harm)
{
    struct hostile_server hostile = {
        .first = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"};
    struct delivery delivery = deliver_to(fix, &hostile);
    CHECK_INT(delivery.state, DELIVERY_DELIVERED);
    CHECK_INT(delivery.status, 204);
}

STORE_TEST(what_is_no_http_is_a_failure)
{
    struct hostile_server hostile = {.first = "220 mail.example ESMTP\r\n", .closes = true};
    struct delivery delivery = deliver_to(fix, &hostile);
    check_failed(&delivery, 0);
}
