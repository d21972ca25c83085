/* A row of the table of everything that the API answers (routes.c): who may call, what the body is,
 * where the handler runs, and what the OpenAPI document tells of it. Thread: any; constant. */
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
    ROUTE_MEMBER,      /* the session of a member alone; others admit it by role (api/roles.h) */
    ROUTE_SIGN_IN,     /* nothing yet; from a page of ours */
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
    handler_fn *show;  /* what the answer shows, by the id in the path, as it is now; NULL: the
                          answer is never too long to be kept for its Idempotency-Key */
    bool is_for_pages; /* called from web pages: CORS (cors.h) */

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
