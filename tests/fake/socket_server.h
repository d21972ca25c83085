/* A WebSocket server that notes what it is told and says what the test
 * wants: closes with a code, refuses the handshake, opens late. What it says goes to the newest
 * connection; handshakes come one at a time. Real sockets on a real loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct socket_server;

struct socket_server *socket_server_open(struct loop *loop);
void socket_server_close(struct socket_server *server);
const char *socket_server_url(const struct socket_server *server); /* "ws://127.0.0.1:port" */
/* Before a client connects: the status it is refused with (0: it is let in), and how late. */
void socket_server_behave(struct socket_server *server, int refusal, int64_t delay_us);
void socket_server_send(struct socket_server *server, const char *text);
void socket_server_end(struct socket_server *server, unsigned code); /* closes the connection */
unsigned socket_server_opened(const struct socket_server *server);   /* connections so far */
/* "text;text;<12>;" : texts as they are, binary messages by their bytes. */
const char *socket_server_log(const struct socket_server *server);
