/* A tool's run by way of names, sockets and libcurl while the 1st, 2nd, 3rd ... call of a socket
 * fails, be it ours, libcurl's or c-ares's, or the endpoint's own. */
#include <stdio.h>

#include "../net/hostile_server.h"
#include "../net/name_server.h"
#include "../net/turn.h"
#include "base/mem.h"
#include "fake/outside.h"
#include "model/tool.h"
#include "net/http_client.h"
#include "net/resolver.h"
#include "sweep.h"
#include "tool/run.h"

struct bench {
    struct loop *loop;
    struct guard *guard;
    struct name_server names;
    struct resolver *resolver;
    struct http_client *client;
    struct hostile_server endpoint;
    int told;
    bool is_told, is_success;
};

static void on_done(void *arg, const struct tool_result *result)
{
    struct bench *bench = arg;
    bench->told++;
    bench->is_told = true;
    bench->is_success = result->is_success;
    CHECK(result->is_success || result->error);
}

static void bench_open(struct bench *bench)
{
    static const uint8_t here[][4] = {{127, 0, 0, 1}};
    *bench = (struct bench){.loop = loop_new("test")};
    name_server_open(&bench->names, bench->loop);
    name_server_say(&bench->names, 1, here);
    CHECK(guard_new("127.0.0.1", &bench->guard, NULL) == OK);
    CHECK(resolver_new(bench->loop, bench->guard, bench->names.address, &bench->resolver, NULL) ==
          OK);
    const struct http_client_config config = {.resolver = bench->resolver};
    bench->client = http_client_new(bench->loop, &config);
    bench->endpoint.first = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    hostile_server_open(&bench->endpoint, bench->loop);
}

static void bench_close(struct bench *bench)
{
    http_client_free(bench->client);
    resolver_free(bench->resolver);
    hostile_server_close(&bench->endpoint);
    name_server_close(&bench->names);
    loop_free(bench->loop);
    guard_free(bench->guard);
}

static void run_tool(struct bench *bench)
{
    /* Another name each time: one that could not be asked for is not asked for again at once. */
    AUTO_MEM char *url =
        mem_printf("http://tool-%d.example:%u/", bench->told, bench->endpoint.port);
    const struct tool tool = {.url = url, .timeout_ms = 2000};
    const struct tool_run_input input = {.tool = &tool, .workspace_id = "ws_1"};
    bench->is_told = false;
    tool_run_start(bench->client, &input, on_done, bench);
    turn_until_set(bench->loop, &bench->is_told);
}

TEST(a_run_is_told_once_whatever_call_fails)
{
    unsigned runs = 0;
    outside_has_sockets = true;
    SWEEP(run)
    {
        runs = run.nth;
        struct bench bench;
        sweep_pause();
        bench_open(&bench);
        sweep_resume();
        run_tool(&bench);
        CHECK(bench.is_success || sweep_failed());
        sweep_pause();
        run_tool(&bench); /* and the next one works again */
        CHECK(bench.is_success);
        CHECK_INT(bench.told, 2);
        bench_close(&bench);
        sweep_resume();
    }
    CHECK(runs > 5); /* two questions, a connection, a request and its answer */
}
