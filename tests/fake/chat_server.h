/* A chat server that plays scripts: each request gets the next one, written byte for byte as it
 * stands, so that every fault of a real server can be shown. Real sockets on a real loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chat_server;
struct loop;

enum { CHAT_PIECES_MAX = 24 };

struct chat_script {
    const char *head;                    /* status line and headers, up to the empty line; NULL: a
                                            stream of events in chunks */
    const char *pieces[CHAT_PIECES_MAX]; /* up to NULL; each is written alone */
    size_t piece_bytes;                  /* of the only piece, which is no text; 0: texts */
    int64_t first_us, every_us;          /* before the first piece, between two */
    size_t split;                        /* cut every piece after so many bytes, 0: whole */
    bool closes;                         /* cut the connection instead of ending the body */
    bool hangs;                          /* neither: say nothing more */
};

struct chat_server *chat_server_open(struct loop *loop);
void chat_server_close(struct chat_server *server);
const char *chat_server_url(const struct chat_server *server); /* "http://127.0.0.1:port/v1" */
/* Scripts are borrowed; requests beyond them get the last again. */
void chat_server_play(struct chat_server *server, const struct chat_script *scripts, size_t count);
unsigned chat_server_requests(const struct chat_server *server);
unsigned chat_server_heads(const struct chat_server *server); /* answered so far, no requests */
unsigned chat_server_connections(const struct chat_server *server); /* accepted so far */
unsigned chat_server_open_connections(const struct chat_server *server);
const char *chat_server_head(const struct chat_server *server); /* of the last request */
const char *chat_server_body(const struct chat_server *server);
