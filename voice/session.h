/* The sessions of a worker: what the service asked for, by number. */
#pragma once

struct loop;
struct sessions;

struct sessions *sessions_open(struct loop *loop, int fd);
void sessions_close(struct sessions *sessions);
