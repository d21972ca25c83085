/* The fault sweep of the front: whatever outside call fails, each request has one proper answer, a
 * refusal leaves nothing behind, and a retry with the same Idempotency-Key finds what became of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/js.h"
#include "base/loop.h"
#include "fake/loop.h"
#include "fake/outside.h"
#include "front.h"
#include "sweep.h"
#include "test.h"

/* The last answer is JSON, and an error is one of the contract. */
static void check_answer(int status)
{
    const char *body = strstr(front_text(), "\r\n\r\n");
    AUTO(js) js = NULL;
    if (!CHECK(status != 0) ||
        !CHECK(body && js_parse(body + 4, strlen(body + 4), 64, &js, NULL) == OK))
        return;
    if (status < 400)
        return;
    CHECK_INT(js_int(js_get(js, "status"), 0), status);
    CHECK(*js_text_or(js_get(js, "code"), "") && *js_text_or(js_get(js, "error"), ""));
    bool is_name = sweep_failed() && strcmp(sweep_failed(), "name") == 0; /* URL_NOT_ALLOWED */
    CHECK(status == 500 || status == 503 || (status == 400 && is_name));
    CHECK(status != 503 || strstr(front_text(), "Retry-After: "));
    CHECK(sweep_failed() != NULL);
}

/* Requests whose paths and bodies have the ids of an agent, a tool, a webhook and a call in them.
 */
static char agent[40], tool[40], webhook[40], call[60];

static int ask(const char *method, const char *path, const char *body, const char *headers)
{
    int status = front_ask(&(struct front_request){method, path, front.key, body, headers});
    check_answer(status);
    return status;
}

static void keep(char *out, size_t size, const char *id)
{
    snprintf(out, size, "%s", id);
}

static void begin(void)
{
    char body[200];
    sweep_pause();
    front_begin(NULL);
    front_doubles.names_answer = true;
    keep(agent, sizeof(agent), front_make("/v1/agents", "{\"name\":\"a\"}"));
    keep(tool, sizeof(tool),
         front_make("/v1/tools",
                    "{\"name\":\"t\",\"description\":\"d\",\"url\":\"http://a.example/\"}"));
    keep(webhook, sizeof(webhook), front_make("/v1/webhooks", "{\"url\":\"http://a.example/\"}"));
    snprintf(body, sizeof(body), "{\"agentId\":\"%s\"}", agent);
    (void)front_make("/v1/calls", body);
    keep(call, sizeof(call), front_field("callId"));
    fake_run_for(2000000); /* keys are looked up again */
    sweep_resume();
}

static void end(void)
{
    sweep_pause();
    front_end(); /* looks that no request is left */
    sweep_resume();
}

static void sweep_one(const char *method, const char *pattern, const char *id, const char *body)
{
    SWEEP(run)
    {
        char path[200];
        begin();
        const char *mark = strchr(pattern, '*'); /* stands for the id */
        if (mark)
            snprintf(path, sizeof(path), "%.*s%s%s", (int)(mark - pattern), pattern, id, mark + 1);
        else
            snprintf(path, sizeof(path), "%s", pattern);
        ask(method, path, body, NULL);
        end();
    }
}

TEST(reads_answer_whatever_fails)
{
    sweep_one("GET", "/v1/me", "", NULL);
    sweep_one("GET", "/v1/agents", "", NULL);
    sweep_one("GET", "/v1/agents/*", agent, NULL);
    sweep_one("GET", "/v1/tools", "", NULL);
    sweep_one("GET", "/v1/calls/*", call, NULL);
}

TEST(writes_answer_whatever_fails)
{
    sweep_one("POST", "/v1/tools", "",
              "{\"name\":\"u\",\"description\":\"d\",\"url\":\"http://b.example/\"}");
    sweep_one("PATCH", "/v1/agents/*", agent,
              "{\"name\":\"b\",\"webhookUrl\":\"http://b.example/\"}");
    sweep_one("DELETE", "/v1/webhooks/*", webhook, NULL);
    sweep_one("POST", "/v1/agents/*/rotate-key", agent, NULL);
}

TEST(what_waits_for_others_answers_whatever_fails)
{
    sweep_one("POST", "/v1/tools/*/test", tool, "{}");
    sweep_one("POST", "/v1/webhooks/*/test", webhook, NULL);
}

/* How many webhooks there are, looked at with nothing failing. */
static int count_webhooks(void)
{
    int count = 0;
    sweep_pause();
    ask("GET", "/v1/webhooks", NULL, NULL);
    for (const char *at = front_text(); (at = strstr(at, "\"id\":\"wh_")); at++)
        count++;
    sweep_resume();
    return count;
}

TEST(a_request_with_a_key_takes_effect_once_whatever_fails)
{
    static const char path[] = "/v1/webhooks", body[] = "{\"url\":\"http://8.8.8.8/\"}",
                      key[] = "Idempotency-Key: one\r\n";
    SWEEP(run)
    {
        begin();
        int first = ask("POST", path, body, key);
        sweep_pause();
        CHECK_INT(count_webhooks(), first == 201 ? 2 : count_webhooks());
        fake_run_for(130 * INT64_C(1000000)); /* a reservation that was left is taken over */
        CHECK_INT(ask("POST", path, body, key), 201);
        CHECK_INT(count_webhooks(), 2);
        sweep_resume();
        end();
    }
}
