/* What can go wrong, as one small enum, and the sentence that travels beside it.
 * Thread: any. */
#pragma once

#include "base/attr.h"

enum err {
    OK = 0,
    ERR_INVALID,     /* malformed input from outside */
    ERR_LIMIT,       /* a ceiling was met */
    ERR_NOT_FOUND,   /* no such thing */
    ERR_CONFLICT,    /* the state does not allow it */
    ERR_DENIED,      /* not permitted (address guard, token, scope) */
    ERR_UNSUPPORTED, /* well formed, but nothing here can serve it */
    ERR_TIMEOUT,
    ERR_CLOSED,   /* the peer or the owner has gone */
    ERR_AGAIN,    /* nothing now, try later */
    ERR_IO,       /* the operating system said no; errno is in the fault's text */
    ERR_BUSY,     /* too much under way */
    ERR_INTERNAL, /* a fault of ours or of a library */
    ERR_COUNT
};

/* A sentence for people, filled by whoever knows the cause. */
struct fault {
    enum err err;
    char text[200];
};

/* "not found" and so on; never NULL. */
const char *err_name(enum err err);

/* Fills *fault (which may be NULL) and returns err, so that it can stand in a return statement. */
enum err fault_set(struct fault *fault, enum err err, const char *format, ...) PRINTF(3, 4);
