/* What a new outgoing TLS connection costs the loop that makes it: so many HTTPS requests, each by
 * a tenant of its own, so that each makes a connection. bench/run counts the instructions of a run
 * with few and of one with many (valgrind's callgrind) and takes the difference. The server is a
 * process of its own.
 *
 *     bench/connect COUNT [resumed|read]
 * resumed: all by one tenant, whose TLS session is resumed; read: the authorities are read for each
 * connection, as a client that does not share them would. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/mem.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/resolver.h"
#include "net/tls.h"

struct bench {
    struct loop *loop;
    struct guard *guard;
    struct resolver *resolver;
    struct tls_context *tls;
    struct http_client *client;
    char cert[64], key[64], url[64];
    const char *way;
    int done;
};

static void fail(const char *text)
{
    fprintf(stderr, "bench/connect: %s\n", text);
    exit(1);
}

static void write_file(const char *path, const struct buf *text)
{
    FILE *file = fopen(path, "wbe");
    if (!file || fwrite(text->data, 1, text->len, file) != text->len || fclose(file) != 0)
        fail("cannot write a file");
}

static void make_certificate(struct bench *bench, const char *dir)
{
    static const char *const names[] = {"127.0.0.1"};
    AUTO_BUF cert = BUF_INIT(10000);
    AUTO_BUF key = BUF_INIT(10000);
    snprintf(bench->cert, sizeof(bench->cert), "%s/cert.pem", dir);
    snprintf(bench->key, sizeof(bench->key), "%s/key.pem", dir);
    if (tls_self_signed(names, 1, &cert, &key, NULL) != OK)
        fail("no certificate");
    write_file(bench->cert, &cert);
    write_file(bench->key, &key);
}

static void on_request(void *arg, struct http_exchange *exchange)
{
    /* Closing makes the next request connect again. */
    static const struct http_header close_after = {"Connection", "close"};
    static const struct http_answer answer = {
        .status = 200, .headers = &close_after, .header_count = 1, .body = "ok", .body_len = 2};
    (void)arg;
    http_answer(exchange, &answer);
}

static pid_t start_server(const struct bench *bench, uint16_t *out_port)
{
    static const struct http_handler handler = {NULL, on_request};
    struct http_server_config config = {.bind = net_addr_ipv4(127, 0, 0, 1, 0)};
    int ends[2];
    if (pipe(ends) != 0)
        fail("no pipe");
    pid_t pid = fork();
    if (pid == 0) {
        struct loop *loop = loop_new("server");
        struct http_server *server;
        if (tls_server_new(bench->cert, bench->key, (struct tls_context **)&config.tls, NULL) ||
            http_server_open(loop, &config, &handler, NULL, &server, NULL))
            fail("no server");
        uint16_t port = http_server_address(server).port;
        if (write(ends[1], &port, sizeof(port)) != sizeof(port))
            fail("no pipe");
        loop_run(loop);
        _exit(0);
    }
    if (pid < 0 || read(ends[0], out_port, sizeof(*out_port)) != sizeof(*out_port))
        fail("no server");
    return pid;
}

static void on_done(void *arg, const struct http_fetch_result *result)
{
    struct bench *bench = arg;
    if (result->fault.err || result->status != 200)
        fail(result->fault.text);
    bench->done++;
    loop_stop(bench->loop);
}

static void read_authorities(struct bench *bench)
{
    http_client_free(TAKE(bench->client));
    tls_context_free(TAKE(bench->tls));
    if (tls_client_new(bench->cert, &bench->tls, NULL) != OK)
        fail("no authorities");
    const struct http_client_config config = {.resolver = bench->resolver, .tls = bench->tls};
    bench->client = http_client_new(bench->loop, &config);
}

static void fetch_one(struct bench *bench, int number)
{
    static const struct http_fetch_fns fns = {NULL, on_done};
    bool is_resumed = strcmp(bench->way, "resumed") == 0;
    AUTO_MEM char *tenant = mem_printf("ws_%d", is_resumed ? 0 : number);
    const struct http_fetch_request request = {
        .method = "GET", .url = bench->url, .tenant = tenant, .timeout_ms = 60000};
    if (number == 0 || strcmp(bench->way, "read") == 0)
        read_authorities(bench);
    http_fetch_start(bench->client, &request, &fns, bench);
    loop_run(bench->loop);
}

static long cpu_us(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000L + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
    struct bench bench = {.way = argc > 2 ? argv[2] : "shared"};
    char dir[] = "/tmp/earshot-connect-XXXXXX";
    int count = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    uint16_t port;
    if (count <= 0 || !mkdtemp(dir))
        fail("usage: connect COUNT [resumed|read]");
    make_certificate(&bench, dir);
    pid_t server = start_server(&bench, &port);
    snprintf(bench.url, sizeof(bench.url), "https://127.0.0.1:%u/", port);
    bench.loop = loop_new("client");
    if (guard_new("127.0.0.1", &bench.guard, NULL) != OK ||
        resolver_new(bench.loop, bench.guard, NULL, &bench.resolver, NULL) != OK)
        fail("no resolver");
    fetch_one(&bench, 0); /* warms up */
    long from_us = cpu_us();
    for (int i = 0; i < count; i++)
        fetch_one(&bench, i + 1);
    long spent_us = cpu_us() - from_us;
    struct loop_stats stats;
    loop_stats(bench.loop, &stats);
    printf("%ld us of CPU for each connection; %llu callbacks over 2 ms, the longest %lld us\n",
           spent_us / count, (unsigned long long)stats.slow_callbacks, (long long)stats.longest_us);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    http_client_free(bench.client);
    resolver_free(bench.resolver);
    loop_free(bench.loop);
    tls_context_free(bench.tls);
    guard_free(bench.guard);
    unlink(bench.cert);
    unlink(bench.key);
    rmdir(dir);
    return 0;
}
