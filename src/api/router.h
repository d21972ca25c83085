/* The routes: one table of everything that the API answers. A row says who may call, what the body
 * is, where the handler runs, and what the OpenAPI document tells of it. Thread: any; constant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "api/answer.h"
#include "model/field.h"

struct request;
typedef void handler_fn(struct request *request);

enum route_auth {
    ROUTE_WORKSPACE,   /* a workspace key */
    ROUTE_EITHER,      /* or the agent's own key */
    ROUTE_PUBLISHABLE, /* the publishable key alone */
    ROUTE_NONE,
};
enum route_store { ROUTE_LOOP, ROUTE_READ, ROUTE_WRITE }; /* where the handler runs */
enum route_body {
    ROUTE_NO_BODY,
    ROUTE_JSON,
    ROUTE_JSON_OPTIONAL, /* an empty body is {} */
    ROUTE_JSON_OR_FILE,  /* application/octet-stream is a file */
};
enum { ROUTE_ERRORS_MAX = 12, ROUTE_PARAMS_MAX = 2 };

struct route {
    const char *method, *path; /* {id} stands for one segment */
    enum route_auth auth;
    enum route_store store;
    enum route_body body;
    size_t max_body_bytes; /* 0: 1 MiB */
    int deadline_s;        /* from the last byte to the answer; 0: 15 */
    handler_fn *handle;

    /* for the OpenAPI document */
    const char *operation, *tag, *summary;
    int status;                      /* of a success */
    const struct field_table *query; /* NULL: none */
    const struct field_table *input; /* NULL: none */
    bool is_update;                  /* the input is a merge: nothing is required */
    const struct field_table *output;
    unsigned output_views;
    const char *output_type; /* NULL: application/json by `output` */
    enum api_error errors[ROUTE_ERRORS_MAX];
};

extern const struct route routes[];
extern const size_t route_count;

struct route_match {
    const struct route *route; /* NULL: no path (allow is NULL) or no method fits */
    char params[ROUTE_PARAMS_MAX][64];
    char allow[64]; /* methods of the path, "" when there is no such path */
};
/* HEAD finds the route of GET. An id over 63 characters is no path at all. */
void route_find(const char *method, const char *path, struct route_match *out);
