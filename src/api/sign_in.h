/* Signing in and out of the studio, and whose request a cookie makes it.
 *
 * A session is a cookie that scripts cannot read and other sites' requests do not carry. Beside it
 * a request names itself as the studio's (X-Earshot-Studio, which no form of another site can send)
 * and, when it changes something, comes from a page of this service (Origin). Nothing is written
 * for who does not get in.
 *
 * Who fails too often waits. Passwords: ten a minute for each address, for each member from one
 * network, and 200 for each member from everywhere: few addresses cannot lock a member out. Links
 * and vouched addresses cannot be guessed: failing ones count as failed authentications of their
 * address, and a right one is good from there all the same.
 *
 * Thread: the control loop, but for the handlers. */
#pragma once

#include <stdbool.h>

#include "api/limit.h"

struct api;
struct request;

struct sign_ins;
struct sign_ins *sign_ins_new(void);
void sign_ins_free(struct sign_ins *sign_ins);

/* The secret of the request's session, in its arena; NULL: no cookie of ours. */
const char *request_session(struct request *request);
/* Does it come from a page of ours? */
bool request_is_from_studio(const struct request *request);
/* Was its page opened for another member than the one whose session it carries? Pages of one
 * browser share the cookie. */
bool request_is_of_another(const struct request *request);
