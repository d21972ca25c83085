/* The network of a simulated service, in place of net/http_client.h: model servers that speak the
 * wires of OpenAI and Anthropic, and the endpoints of tools. The vendors' adapters and the tool
 * runs above it are the real ones. A test says what the model answers and what an endpoint does. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct js;
struct world;

enum { NET_CALLS_MAX = 12 };

/* What a model is asked, whatever the wire. */
struct net_asked {
    const struct js *body;
    const char *text;                   /* of the body */
    const char *said;                   /* the caller's last words; NULL: tools have answered */
    const char *results[NET_CALLS_MAX]; /* of the tools that were called last */
    size_t result_count;
    bool may_call;
};

struct net_call {
    const char *name, *arguments; /* as they stand on the wire */
};

struct net_answer {   /* of a model */
    const char *text; /* NULL: none */
    struct net_call calls[NET_CALLS_MAX];
    size_t call_count;
};

struct net_page { /* of an endpoint */
    int status;
    const char *body;
    int64_t after_us;
};

typedef void net_model_fn(const struct net_asked *asked, struct net_answer *out);
/* request: "METHOD url body". */
typedef void net_endpoint_fn(const char *request, struct net_page *out);

struct net {
    net_model_fn *model;
    net_endpoint_fn *endpoint; /* NULL: 200 and {} after 50 ms */
    int64_t model_us;          /* to the first byte */
    struct buf asked;          /* bodies of the model's requests, a line each */
    struct buf visited;        /* endpoints, "METHOD url body" a line each */
    int asks, visits, warmed;  /* warmed: connections that were opened before they were needed */
};
extern struct net net;

/* Before world_begin(): its models are those of the vendors, its tools run over this network. */
void net_prepare(net_model_fn *model);
void net_clear(void); /* after world_end() */
/* The body of the n-th request to a model, from 0; NULL: none. mem_free. */
char *net_asked_body(int n);
