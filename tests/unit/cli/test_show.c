#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/js.h"
#include "base/loop.h"
#include "cli/show_socket.h"
#include "cli/unix_socket.h"
#include "test.h"

static char dir[] = "/tmp/earshot-show-XXXXXX";

static void answer(void *arg, struct show_client *client)
{
    struct js *tree = js_object();
    js_set(tree, "calls", js_array());
    show_answer(client, tree);
    loop_stop(arg);
}

TEST(show_socket_answers_with_a_tree)
{
    AUTO(loop) loop = loop_new("test");
    struct show_socket *server = NULL;
    struct fault fault = {0};
    REQUIRE(mkdtemp(dir) != NULL);
    REQUIRE(show_socket_open(loop, dir, answer, loop, &server, &fault) == OK);
    struct sockaddr_un address;
    REQUIRE(unix_socket_address(dir, &address, NULL) == OK);
    struct stat file;
    CHECK(stat(address.sun_path, &file) == 0 && (file.st_mode & 0777) == 0600);
    int fd = unix_socket_connect(&address);
    CHECK(fd >= 0);
    loop_run(loop);
    char text[64] = "";
    CHECK(read(fd, text, sizeof(text) - 1) > 0);
    CHECK_TEXT(text, "{\"calls\":[]}");
    close(fd);

    struct show_socket *second = NULL;
    CHECK_INT(show_socket_open(loop, dir, answer, loop, &second, &fault), ERR_BUSY);
    show_socket_close(server);
    CHECK_INT(access(address.sun_path, F_OK), -1);
    rmdir(dir);
}

TEST(show_socket_takes_the_place_of_a_dead_one)
{
    AUTO(loop) loop = loop_new("test");
    struct show_socket *server = NULL;
    REQUIRE(mkdtemp(dir) != NULL);
    struct sockaddr_un address;
    REQUIRE(unix_socket_address(dir, &address, NULL) == OK);
    FILE *left_over = fopen(address.sun_path, "w");
    REQUIRE(left_over != NULL);
    fclose(left_over);
    CHECK_INT(show_socket_open(loop, dir, answer, loop, &server, NULL), OK);
    show_socket_close(server);
    rmdir(dir);
}

TEST(show_socket_path_has_a_limit)
{
    char long_dir[300];
    memset(long_dir, 'x', sizeof(long_dir) - 1);
    long_dir[sizeof(long_dir) - 1] = '\0';
    struct sockaddr_un address;
    CHECK_INT(unix_socket_address(long_dir, &address, NULL), ERR_INVALID);
}
