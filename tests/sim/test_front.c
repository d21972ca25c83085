/* What one client, key or workspace can do to the front, and what the others notice of it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "fake/loop.h"
#include "front.h"
#include "model/document.h"
#include "store/document.h"
#include "store/store.h"
#include "test.h"

#define S (1000 * 1000)

static int get(const char *path, const char *key)
{
    return front_ask(&(struct front_request){"GET", path, key});
}

static int post(const char *path, const char *body, const char *headers)
{
    return front_ask(&(struct front_request){"POST", path, front.key, body, headers});
}

static bool says(const char *text)
{
    return CHECK(strstr(front_text(), text)) || !CHECK_TEXT(front_text(), text);
}

/* The deadline. */

TEST(every_request_is_answered_within_its_deadline)
{
    front_begin(NULL);
    front_doubles.holds_jobs = true;
    int64_t from_us = fake_now_us();
    CHECK_INT(get("/v1/me", front.key), 503); /* even its key cannot be looked up */
    CHECK_INT(fake_now_us() - from_us, 15 * S);
    says("\"code\":\"UNAVAILABLE\"");
    says("Retry-After: ");
    front_release();
    CHECK_INT(get("/v1/me", front.key), 200);
    front_doubles.holds_jobs = true; /* its key is known for a second */
    from_us = fake_now_us();
    CHECK_INT(post("/v1/agents", "{\"name\":\"a\"}", NULL), 503);
    CHECK_INT(fake_now_us() - from_us, 15 * S);
    front_end();
}

TEST(health_is_answered_while_all_else_waits)
{
    static const char *const settings[] = {"http.connections=40", "http.requests=8", NULL};
    front_begin(settings);
    struct front_client clients[40];
    char ip[16], text[200];
    front_doubles.holds_jobs = true;
    for (int i = 0; i < 40; i++) {
        snprintf(ip, sizeof(ip), "127.0.1.%d", i);
        front_connect(&clients[i], ip);
        snprintf(text, sizeof(text),
                 "GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", front.key);
        front_send(&clients[i], text);
    }
    fake_run_for(S);
    CHECK_INT(get("/healthz", NULL), 200);
    int refused = 0, waiting = 0;
    for (int i = 0; i < 40; i++) {
        int status = front_status(&clients[i], 1, 0);
        refused += status == 503;
        waiting += status == 0;
    }
    CHECK_INT(waiting, 8);
    CHECK(refused >= 31); /* an idle one has given way */
    for (int i = 0; i < 40; i++)
        front_disconnect(&clients[i]);
    front_end();
}

TEST(a_start_may_take_longer_than_other_requests)
{
    front_begin(NULL);
    char body[200];
    snprintf(body, sizeof(body), "{\"agentId\":\"%s\"}",
             front_make("/v1/agents", "{\"name\":\"a\"}"));
    front_doubles.call_us = 40 * S;
    CHECK_INT(post("/v1/calls", body, NULL), 201);
    front_doubles.call_us = 50 * S;
    int64_t from_us = fake_now_us();
    CHECK_INT(post("/v1/calls", body, NULL), 503);
    CHECK_INT(fake_now_us() - from_us, 45 * S);
    front_end();
}

TEST(a_page_can_read_what_it_is_told_at_the_deadline)
{
    front_begin(NULL);
    (void)front_make("/v1/agents", "{\"name\":\"a\",\"embed\":{\"enabled\":true,"
                                   "\"allowedOrigins\":[\"a.example\"]}}");
    const struct front_request press = {"POST", "/v1/embed/calls", front_field("publicKey"), "{}",
                                        "Origin: https://a.example\r\n"};
    front_doubles.call_us = 50 * S;
    CHECK_INT(front_ask(&press), 503);
    says("Access-Control-Allow-Origin: https://a.example\r\n");
    struct front_request other = press;
    other.headers = "Origin: https://b.example\r\n";
    CHECK_INT(front_ask(&other), 403);
    CHECK(!strstr(front_text(), "Access-Control"));
    front_end();
}

TEST(what_was_told_late_has_no_effect_unless_it_had_begun)
{
    front_begin(NULL);
    CHECK_INT(get("/v1/me", front.key), 200);
    front_doubles.holds_jobs = true;
    CHECK_INT(post("/v1/agents", "{\"name\":\"late\"}", "Idempotency-Key: one\r\n"), 503);
    front_release();
    fake_run_for(S);
    CHECK_INT(get("/v1/agents", front.key), 200);
    CHECK(!strstr(front_text(), "late"));
    CHECK_INT(post("/v1/agents", "{\"name\":\"late\"}", "Idempotency-Key: one\r\n"), 201);
    front_end();
}

TEST(a_late_answer_is_kept_for_its_idempotency_key)
{
    static const char key[] = "Idempotency-Key: start\r\n";
    front_begin(NULL);
    char body[200];
    snprintf(body, sizeof(body), "{\"agentId\":\"%s\"}",
             front_make("/v1/agents", "{\"name\":\"a\"}"));
    front_doubles.call_us = 60 * S;
    CHECK_INT(post("/v1/calls", body, key), 503);
    CHECK_INT(post("/v1/calls", body, key), 409); /* still under way */
    says("IDEMPOTENCY_KEY_IN_USE");
    fake_run_for(20 * S);
    CHECK_INT(post("/v1/calls", body, key), 201);
    says("Idempotent-Replayed: true");
    CHECK_INT(front_doubles.calls_started, 1);
    front_end();
}

static enum err read_document(struct tx *tx, void *arg)
{
    static const struct text_list no_topics;
    struct document document;
    enum err err = store_document_take(tx, arg, &document);
    return err ? err : store_document_ready(tx, arg, 30, NULL, 0, &no_topics);
}

TEST(a_key_makes_no_writer_of_who_reads)
{
    struct fault fault;
    char id[64], body[200];
    front_begin(NULL);
    snprintf(id, sizeof(id), "%s",
             front_make("/v1/knowledge/documents",
                        "{\"name\":\"d\",\"text\":\"We are open from nine to five.\"}"));
    CHECK_INT(store_run(front.store, STORE_WRITE, read_document, id, &fault), OK);
    snprintf(body, sizeof(body), "{\"documentIds\":[\"%s\"],\"query\":\"open\"}", id);
    CHECK_INT(post("/v1/knowledge/search", body, "Idempotency-Key: one\r\n"), 200);
    CHECK_INT(front_doubles.searches, 1);
    CHECK_INT(front_doubles.searches_that_write, 0);
    CHECK_INT(post("/v1/knowledge/search", body, "Idempotency-Key: one\r\n"), 200);
    says("Idempotent-Replayed: true");
    CHECK_INT(front_doubles.searches, 1);
    front_doubles.writes = 0;
    CHECK_INT(front_ask(&(struct front_request){"GET", "/v1/agents", front.key,
                                                .headers = "Idempotency-Key: two\r\n"}),
              200);
    CHECK_INT(front_doubles.writes, 0);
    front_end();
}

TEST(a_long_body_is_never_parsed_by_who_writes)
{
    char body[8000];
    front_begin(NULL);
    memset(body, ' ', sizeof(body));
    memcpy(body + sizeof(body) - 4, "{\"a", 4); /* no JSON, which is known only at its end */
    body[sizeof(body) - 1] = '\0';
    CHECK_INT(post("/v1/agents", body, ""), 400); /* the key's first use is written */
    front_doubles.writes = 0;
    CHECK_INT(post("/v1/agents", body, "Idempotency-Key: one\r\n"), 400);
    CHECK_INT(post("/v1/knowledge/search", body, "Idempotency-Key: two\r\n"), 400);
    CHECK_INT(front_doubles.writes, 0);
    front_end();
}

/* Bodies. */

static void send_head(struct front_client *client, const char *path, const char *key, long length,
                      const char *type)
{
    char text[400];
    snprintf(text, sizeof(text),
             "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %ld\r\n"
             "Content-Type: %s\r\n\r\n",
             path, key, length, type);
    front_send(client, text);
}

TEST(a_body_is_refused_at_its_head)
{
    static const struct {
        const char *path, *key;
        long length;
        const char *type;
        int status;
    } rows[] = {
        {"/v1/agents", "nonsense", 1000000000, "application/json", 401},
        {"/v1/knowledge/documents?name=a.txt", "nonsense", 26214400, "application/octet-stream",
         401},
        {"/v1/nothing", NULL, 1000, "application/json", 404},
        {"/v1/me", NULL, 1000, "application/json", 405},
        {"/v1/agents?userId=usr_other", NULL, 1000, "application/json", 403},
        {"/v1/agents", NULL, 1000, "text/plain", 415},
        {"/v1/agents", NULL, 1100000, "application/json", 413},
        {"/v1/embed/calls", NULL, 1000, "application/json", 403},
    };
    front_begin(NULL);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct front_client client;
        front_connect(&client, "127.0.0.1");
        send_head(&client, rows[i].path, rows[i].key ? rows[i].key : front.key, rows[i].length,
                  rows[i].type);
        if (!CHECK_INT(front_status(&client, 1, S), rows[i].status))
            CHECK_TEXT(rows[i].path, client.text.data);
        front_disconnect(&client);
    }
    front_end();
}

static int send_slowly(const char *path, const char *type, int64_t *out_held_us)
{
    struct front_client client;
    front_connect(&client, "127.0.0.1");
    send_head(&client, path, front.key, 26000000, type);
    AUTO_BUF bulk = BUF_INIT(64 << 20);
    buf_reserve(&bulk, 25000000);
    memset(bulk.data, 'x', 25000000);
    bulk.data[bulk.len = 25000000] = '\0';
    front_send(&client, bulk.data);
    fake_run_for(S);
    int64_t from_us = fake_now_us();
    int status = 0;
    for (int i = 0; i < 1000 && !status; i++) { /* a byte each 8 s, for 8,000 s */
        status = front_status(&client, 1, 8 * S);
        if (!status && !client.is_closed)
            front_send(&client, "x");
    }
    *out_held_us = fake_now_us() - from_us;
    front_disconnect(&client);
    return status;
}

TEST(a_connection_is_not_held_by_single_bytes)
{
    front_begin(NULL);
    int64_t held_us;
    CHECK_INT(
        send_slowly("/v1/knowledge/documents?name=a.txt", "application/octet-stream", &held_us),
        408);
    CHECK(held_us <= 31 * S);
    front_end();
}

/* So many uploads of 25 MB are under way at once. */
static int open_uploads(struct front_client *clients, int count, const char *from)
{
    int open = 0;
    for (int i = 0; i < count; i++) {
        front_connect(&clients[i], from);
        send_head(&clients[i], "/v1/knowledge/documents?name=a.txt", front.key, 25000000,
                  "application/octet-stream");
        open += front_status(&clients[i], 1, S / 10) == 0;
    }
    return open;
}

TEST(bodies_on_disk_have_ceilings_that_leave_others_room)
{
    static const char *const settings[] = {"http.body_disk=256", NULL}; /* ten files */
    front_begin(settings);
    struct front_client hog[10];
    CHECK_INT(open_uploads(hog, 10, "127.0.0.1"), 5);
    CHECK_INT(front_status(&hog[9], 1, 0), 429);
    CHECK(strstr(hog[9].text.data, "Retry-After: "));
    for (int i = 0; i < 10; i++)
        front_disconnect(&hog[i]);
    fake_run_for(S);
    CHECK_INT(open_uploads(hog, 3, "127.0.0.1"), 3); /* given back */
    for (int i = 0; i < 3; i++)
        front_disconnect(&hog[i]);
    front_end();
}

TEST(bodies_in_memory_have_ceilings)
{
    static const char *const settings[] = {"http.body_memory=4", NULL};
    front_begin(settings);
    struct front_client clients[4];
    int refused = 0;
    for (int i = 0; i < 4; i++) {
        front_connect(&clients[i], "127.0.0.1");
        send_head(&clients[i], "/v1/agents", front.key, 1000000, "application/json");
        refused += front_status(&clients[i], 1, S / 10) == 429;
    }
    CHECK_INT(refused, 2);
    CHECK_INT(post("/v1/agents", "{\"name\":\"small\"}", NULL), 201);
    for (int i = 0; i < 4; i++)
        front_disconnect(&clients[i]);
    front_end();
}

/* What the start of a call is told. */

TEST(a_start_that_cannot_be_dispatched_is_refused)
{
    front_begin(NULL);
    char body[200];
    snprintf(body, sizeof(body), "{\"agentId\":\"%s\"}",
             front_make("/v1/agents", "{\"name\":\"a\"}"));
    front_doubles.refuses_calls = true;
    CHECK_INT(post("/v1/calls", body, NULL), 503);
    says("\"code\":\"DISPATCH_FAILED\"");
    front_doubles.refuses_calls = false;
    CHECK_INT(post("/v1/calls", body, NULL), 201);
    front_end();
}

TEST(a_call_of_the_button_has_its_own_ceiling)
{
    front_begin(NULL);
    const char *id = front_make("/v1/agents", "{\"name\":\"a\",\"embed\":{\"enabled\":true,"
                                              "\"maxCallSeconds\":45}}");
    const struct front_request press = {"POST", "/v1/embed/calls", front_field("publicKey"),
                                        "{\"config\":{\"call\":{\"maxDurationSeconds\":3000}}}"};
    char body[200];
    snprintf(body, sizeof(body), "{\"agentId\":\"%s\"}", id);
    CHECK_INT(front_ask(&press), 201);
    CHECK_INT(front_doubles.most_duration_s, 45);
    CHECK_INT(post("/v1/calls", body, NULL), 201); /* the API's own calls have none */
    CHECK_INT(front_doubles.most_duration_s, 0);
    front_end();
}

TEST(a_visitor_uses_up_its_own_limit_alone)
{
    static const char *const settings[] = {"rate.limit=60", "rate.burst=2", NULL};
    front_begin(settings);
    (void)front_make("/v1/agents", "{\"name\":\"a\",\"embed\":{\"enabled\":true}}");
    struct front_request press = {"POST", "/v1/embed/calls", front_field("publicKey"), "{}"};
    press.from = "127.0.0.2";
    CHECK_INT(front_ask(&press), 201);
    CHECK_INT(front_ask(&press), 201);
    CHECK_INT(front_ask(&press), 429);
    press.from = "127.0.0.3";
    CHECK_INT(front_ask(&press), 201);
    front_end();
}

/* Who may read the metrics. */

TEST(metrics_are_for_the_machine_or_the_token)
{
    static const char *const settings[] = {"service.trusted_proxies=127.0.0.1",
                                           "metrics.token=let-me-see", NULL};
    static const struct {
        const char *headers;
        int status;
    } rows[] = {
        {"", 200},
        {"X-Forwarded-For: 198.51.100.7\r\n", 401},
        {"X-Forwarded-For: 198.51.100.7\r\nAuthorization: Bearer let-me-see\r\n", 200},
        {"X-Forwarded-For: 198.51.100.7\r\nAuthorization: Bearer let-me-sea\r\n", 401},
        {"X-Forwarded-For: 198.51.100.7\r\nAuthorization: Bearer let-me-se\r\n", 401},
        {"X-Forwarded-For: 198.51.100.7\r\nAuthorization: Bearer \r\n", 401},
    };
    front_begin(settings);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct front_request request = {"GET", "/metrics", NULL, NULL, rows[i].headers};
        if (!CHECK_INT(front_ask(&request), rows[i].status))
            test_fail(__FILE__, __LINE__, "row %zu", i);
    }
    front_end();
}
