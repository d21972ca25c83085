/* A bell: any thread rings it, and fn runs on the loop it was made for, with the bits of all rings
 * since. Several rings before the loop looks become one call. Closed on its loop, it is rung in
 * vain from then on: nothing is posted to a loop that may be gone, and fn comes no more. */
#pragma once

struct bell;
struct loop;

typedef void bell_fn(void *arg, unsigned bits);

struct bell *bell_new(struct loop *loop, bell_fn *fn, void *arg);
void bell_ring(struct bell *bell, unsigned bits); /* any thread */
void bell_close(struct bell *bell);               /* the loop's thread, or the loop does not run */
void bell_free(struct bell *bell);                /* closed; nobody will ring. NULL: nothing */
