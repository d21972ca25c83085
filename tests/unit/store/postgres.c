/* See postgres.h. Everything is started by fork and exec, without a shell. */
#include "unit/store/postgres.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIN "/usr/lib/postgresql/15/bin/"

enum { UP_TRIES = 200, UP_PAUSE_US = 50000, PATH_SIZE = 128 };

struct postgres {
    char dir[PATH_SIZE];
    pid_t server, owner;
};

static void become_postgres(void)
{
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;
    if (!user)
        return;
    if (setgroups(0, NULL) || setgid(user->pw_gid) || setuid(user->pw_uid))
        _exit(126);
}

static pid_t run(const char *dir, const char *const argv[], bool is_quiet)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    become_postgres();
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    if (is_quiet) {
        dup2(null, 1);
        dup2(null, 2);
    }
    if (chdir(dir) == 0)
        execv(argv[0], (char *const *)argv);
    _exit(127);
}

static int run_to_end(const char *dir, const char *const argv[], bool is_quiet)
{
    int status = -1;
    pid_t pid = run(dir, argv, is_quiet);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool postgres_again(struct postgres *postgres)
{
    char sockets[PATH_SIZE + 40];
    snprintf(sockets, sizeof(sockets), "unix_socket_directories=%s", postgres->dir);
    /* No fsync: processes are killed here, machines are not. */
    const char *const server[] = {BIN "postgres",
                                  "-D",
                                  "data",
                                  "-c",
                                  sockets,
                                  "-c",
                                  "listen_addresses=",
                                  "-c",
                                  "max_connections=200",
                                  "-c",
                                  "shared_buffers=32MB",
                                  "-c",
                                  "logging_collector=off",
                                  "-c",
                                  "fsync=off",
                                  "-c",
                                  "restart_after_crash=on",
                                  NULL};
    postgres->server = run(postgres->dir, server, true);
    const char *const ready[] = {BIN "pg_isready", "-q", "-h", postgres->dir, NULL};
    for (int i = 0; i < UP_TRIES; i++) {
        if (run_to_end(postgres->dir, ready, true) == 0)
            return true;
        usleep(UP_PAUSE_US);
    }
    fprintf(stderr, "PostgreSQL did not start in %s\n", postgres->dir);
    return false;
}

/* The first cluster of a program, before a server ran on it; children that a test was forked as
 * start theirs from a copy. */
static char pristine[PATH_SIZE + 16];

static bool make_cluster(const char *dir)
{
    const char *const init[] = {BIN "initdb", "-D", "data", "-A", "trust",       "-U",
                                "postgres",   "-E", "UTF8", "-N", "--no-locale", NULL};
    const char *const copy[] = {"/bin/cp", "-a", pristine, "data", NULL};
    const char *const keep[] = {"/bin/cp", "-a", "data", "pristine", NULL};
    if (pristine[0])
        return run_to_end(dir, copy, true) == 0;
    if (run_to_end(dir, init, true) != 0 || run_to_end(dir, keep, true) != 0)
        return false;
    snprintf(pristine, sizeof(pristine), "%s/pristine", dir);
    return true;
}

struct postgres *postgres_start(void)
{
    struct postgres *postgres = calloc(1, sizeof(*postgres));
    if (!postgres)
        return NULL;
    postgres->owner = getpid();
    snprintf(postgres->dir, sizeof(postgres->dir), "/tmp/earshot-pg-XXXXXX");
    if (!mkdtemp(postgres->dir))
        return NULL;
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;
    if (user && chown(postgres->dir, user->pw_uid, user->pw_gid))
        return NULL;
    if (!make_cluster(postgres->dir)) {
        fprintf(stderr, "initdb failed in %s (package postgresql-15)\n", postgres->dir);
        return NULL;
    }
    return postgres_again(postgres) ? postgres : NULL;
}

void postgres_crash(struct postgres *postgres)
{
    kill(postgres->server, SIGQUIT);
    waitpid(postgres->server, NULL, 0);
}

static pid_t parent_of(const char *pid)
{
    char path[PATH_SIZE], line[512];
    snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t len = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[len] = '\0';
    int parent = 0;
    const char *after_name = strrchr(line, ')');
    return after_name && sscanf(after_name + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

void postgres_freeze(struct postgres *postgres, bool is_frozen)
{
    int signal = is_frozen ? SIGSTOP : SIGCONT;
    kill(postgres->server, signal);
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));)
        if (parent_of(entry->d_name) == postgres->server)
            kill((pid_t)strtol(entry->d_name, NULL, 10), signal);
    if (processes)
        closedir(processes);
}

void postgres_stop(struct postgres *postgres)
{
    if (!postgres || postgres->owner != getpid())
        return;
    postgres_crash(postgres);
    const char *const clean[] = {"/bin/rm", "-rf", postgres->dir, NULL};
    run_to_end("/", clean, true);
    rmdir(postgres->dir);
    free(postgres);
}

bool postgres_copy(struct postgres *postgres, const char *of, const char *name, char *out_url,
                   unsigned size)
{
    const char *const create[] = {BIN "createdb", "-h", postgres->dir, "-U", "postgres",
                                  "-T",           of,   name,          NULL};
    if (run_to_end(postgres->dir, create, false) != 0)
        return false;
    snprintf(out_url, size, "postgres:///%s?host=%s&user=postgres", name, postgres->dir);
    return true;
}

bool postgres_database(struct postgres *postgres, const char *name, char *out_url, unsigned size)
{
    return postgres_copy(postgres, "template1", name, out_url, size);
}
