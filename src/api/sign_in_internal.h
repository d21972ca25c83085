/* What the parts of signing in share: sign_in.c says who comes in, sign_in_password.c looks at the
 * passwords: job -> pool -> job. */
#pragma once

#include <stdint.h>

#include "api/password_line.h"
#include "api/sign_in.h"
#include "net/addr.h"

enum { CANDIDATES_MAX = 8 /* workspaces of one address whose passwords are tried */ };

struct candidate {
    const char *id, *workspace_id, *hash;
    bool is_vouched;
};

/* From the job over the pool to the next job; in the request's arena. */
struct attempt {
    struct request *request;
    const char *link, *email, *password;
    const char *member; /* whose password it is to be: an address or an id */
    struct candidate candidates[CANDIDATES_MAX];
    size_t count, chosen; /* chosen == count: none fits */
    bool has_more;        /* candidates than are tried: who is one of those names the workspace */
    struct password_turn turn;
    bool has_yielded;
};

/* Looks at the password of the request's attempt, in which the candidates are. */
void sign_in_check_password(struct request *request);
/* A job: the session of the chosen candidate. */
void sign_in_open_chosen(struct request *request);
void sign_in_refuse_rate(struct request *request, int64_t retry_s);
