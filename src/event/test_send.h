/* Test events (POST /v1/webhooks/:id/test): one signed delivery each, without retry, that somebody
 * waits for. Workspaces share the connections fairly; one that asks for too many at once is told
 * so. Thread: its loop. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "event/delivery.h"

struct http_client;
struct test_sends;

struct test_sends *test_sends_new(struct loop *loop, struct http_client *client, int64_t answer_ms);
/* All is copied. fn comes on done_loop, in any case. any. */
void test_sends_add(struct test_sends *sends, const struct delivery_test *test,
                    struct loop *done_loop, delivery_test_fn *fn, void *arg);
void test_sends_stop(struct test_sends *sends); /* no further one begins; those are told so */
/* What is under way is cut off and told so. Before the client's end. */
void test_sends_free(struct test_sends *sends);
