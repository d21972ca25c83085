/* A server that follows a script of bytes, on the test's loop: what it sends first to each request,
 * and what it goes on sending until the connection breaks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct listener;
struct loop;

struct hostile_server {
    const char *first; /* NULL: it reads and says nothing */
    size_t first_len;  /* 0: a text's */
    const char *again; /* NULL: nothing more */
    int64_t pause_us;  /* between the bytes of `first`, one at a time; 0: all at once */
    bool closes;       /* after `first` */
    /* What it saw. */
    int accepted, requests;
    size_t sent_bytes;
    uint16_t port;
    struct loop *loop;
    struct listener *listener;
    struct list_node connections;
};

/* script: its first five members. */
void hostile_server_open(struct hostile_server *server, struct loop *loop);
void hostile_server_close(struct hostile_server *server);
