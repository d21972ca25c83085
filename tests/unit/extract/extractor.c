/* What `earshot extract KIND` is, as a program of its own. As kind `text` a file that begins with
 * "#!" says instead what a document would do that has taken the extractor over. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "extract/block.h"
#include "extract/run.h"

static char order[64];

/* As extract_run() locks itself in; then each of what it must not be able to do. */
static int try_out(void)
{
    if (!extract_lock_in())
        return 1;
    char program[] = "/bin/true", *argv[] = {program, NULL};
    struct block_writer out;
    block_writer_init(&out, STDOUT_FILENO);
    char report[200];
    bool reads = open("/etc/passwd", O_RDONLY) >= 0;
    bool writes = open("/tmp/earshot-extractor-was-here", O_WRONLY | O_CREAT, 0600) >= 0;
    signal(SIGXFSZ, SIG_IGN); /* the limit on files kills where no filter refuses */
    bool spoils = pwrite(STDIN_FILENO, "x", 1, 0) == 1;
    bool connects = socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
    pid_t child = fork();
    bool forks = child >= 0;
    if (child == 0)
        _exit(0);
    execve(argv[0], argv, NULL);
    bool grows = mmap(NULL, (size_t)1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0) != MAP_FAILED;
    snprintf(report, sizeof(report), "reads %d writes %d spoils %d connects %d forks %d grows %d",
             reads, writes, spoils, connects, forks, grows);
    enum err err = block_write(&out, BLOCK_PARAGRAPH, 0, 0, report);
    block_end(&out, err ? EXTRACT_BROKEN : EXTRACT_DONE);
    return 0;
}

static int obey(void)
{
    if (strcmp(order, "#!try") == 0)
        return try_out();
    if (strcmp(order, "#!garbage") == 0)
        return write(STDOUT_FILENO, "this is no frame at all", 23) == 23 ? 0 : 1;
    if (strcmp(order, "#!flood") == 0)
        for (;;)
            if (write(STDOUT_FILENO, "P\0\0\0\0\0\0\0\4\0\0\0word", 16) < 0)
                return 1;
    if (strcmp(order, "#!silent") == 0)
        return 0;
    if (strcmp(order, "#!crash") == 0)
        __builtin_trap();
    for (;;) /* #!hang */
        pause();
}

int main(int argc, char **argv)
{
    ssize_t n = pread(STDIN_FILENO, order, sizeof(order) - 1, 0);
    order[n > 0 ? n : 0] = '\0';
    if (argc == 3 && strncmp(order, "#!", 2) == 0)
        return obey();
    return argc == 3 ? extract_run(argv[2]) : 2;
}
