/* The API itself, as its own files see it. */
#pragma once

#include "api/api.h"
#include "api/keys.h"
#include "api/rates.h"
#include "base/list.h"

struct admission;
struct proxies;
struct sign_ins;
struct spoilt;
struct sweeper;

struct api {
    struct api_deps deps;
    struct keys *keys;
    struct rates *rates;
    struct sweeper *sweeper;
    struct spoilt *spoilt;
    struct proxies *proxies;
    struct admission *admission;
    struct sign_ins *sign_ins;
    const struct route *routes;
    size_t route_count;
    struct buf openapi; /* made at the first use */
    struct list_node streams;
    unsigned under_way;
    int64_t ahead_bytes; /* of bodies that are parsed and wait for the writer (run.c) */
};
