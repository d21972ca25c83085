/* What http_client.c (the life of a request) and http_client_curl.c (its transfer by libcurl)
 * share. Internal to the client. */
#pragma once

#include "base/buf.h"
#include "base/fair.h"
#include "base/list.h"
#include "base/loop.h"
#include "net/http_client.h"
#include "net/http_client_pool.h"
#include "net/url.h"

enum { HTTP_FETCH_HEADERS_MAX = 100, HTTP_FETCH_ERROR_SIZE = 256 /* CURL_ERROR_SIZE */ };

/* What is asked, in the arena. */
struct http_fetch_asked {
    struct url url;
    char *url_text;
    char *method;
    char *body;
    size_t body_len;
    struct http_fetch_request limits; /* its numbers only */
};

/* What libcurl works with (http_client_curl.c). */
struct http_fetch_curl {
    struct http_transfer transfer;
    struct curl_slist *headers, *pinned;
    char error_text[HTTP_FETCH_ERROR_SIZE];
};

/* What has come. */
struct http_fetch_got {
    struct buf body;
    bool is_cut; /* of the body */
    struct http_header *headers;
    size_t header_count, header_bytes;
    int64_t first_byte_us;
};

/*   in its tenant's line --> resolving --> with libcurl --> over, freed at the end of the turn */
struct http_fetch {
    struct fair_item turn;
    struct http_client *client;
    struct http_pool *pool;
    struct list_node node;
    struct arena *arena;
    struct resolve *name;
    struct http_fetch_asked asked;
    struct http_fetch_curl curl;
    struct http_fetch_got got;
    size_t held_bytes; /* told to the pool */
    struct http_fetch_fns fns;
    void *arg;
    struct timer limit, stall;
    int64_t asked_us, began_us;
    struct fault fault;
    bool is_over; /* on_done has come or will never come */
};

/* http_client_curl.c */
enum err http_fetch_set_headers(struct http_fetch *fetch, const struct http_fetch_request *request);
/* The addresses are guarded; literal: the URL has one itself, so that nothing needs pinning. */
void http_fetch_begin(struct http_fetch *fetch, const struct net_addr *addrs, size_t count,
                      bool is_literal);
/* Lets go of libcurl; outside its calls. */
void http_fetch_release(struct http_fetch *fetch);
int http_fetch_status(const struct http_fetch *fetch);               /* 0: none came */
const char *http_fetch_content_type(const struct http_fetch *fetch); /* NULL: none came */
/* The fault of libcurl's code, unless another one is known. */
void http_fetch_conclude(struct http_fetch *fetch, int code);

/* http_client.c */
void http_fetch_touch(struct http_fetch *fetch);                          /* a byte came */
const struct tls_context *http_fetch_tls(const struct http_fetch *fetch); /* NULL: none */
const struct http_client_config *http_fetch_config(const struct http_fetch *fetch);
