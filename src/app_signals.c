/* Signals as events of the control loop. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app.h"
#include "base/attr.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/tls.h"

struct app_signals {
    int fd;
    struct io *io;
};

static void reload_certificates(struct app *app)
{
    struct fault fault = {0};
    if (!app->tls)
        log_info("tls.reload", LOG_S("result", "no certificate in use"));
    else if (tls_server_reload(app->tls, &fault))
        log_error("tls.reload", LOG_S("result", fault.text));
    else
        log_info("tls.reload", LOG_S("result", "done"));
}

static void on_signal(void *arg, unsigned events)
{
    struct app *app = arg;
    struct signalfd_siginfo info;
    (void)events;
    if (read(app->signals->fd, &info, sizeof(info)) != sizeof(info))
        return;
    log_info("service.signal", LOG_S("signal", sigabbrev_np((int)info.ssi_signo)));
    if (info.ssi_signo == SIGHUP)
        reload_certificates(app);
    else
        app_drain(app);
}

/* Any thread, anywhere: nothing but what a signal handler may do. */
static void cut(int signal)
{
    static const char line[] = "level=error event=service.cut reason=\"what it waits for does not "
                               "come; the next start recovers\"\n";
    (void)signal;
    ssize_t written = write(STDERR_FILENO, line, sizeof(line) - 1);
    _exit(written < 0 ? 2 : 1);
}

void app_signals_cut_after(unsigned seconds)
{
    const struct sigaction action = {.sa_handler = cut};
    sigaction(SIGALRM, &action, NULL);
    alarm(seconds);
}

enum err app_signals_open(struct app *app, struct fault *fault)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGHUP);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    signal(SIGPIPE, SIG_IGN); /* a peer that has gone is an error of write() */
    int fd = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        return fault_set(fault, ERR_IO, "cannot watch signals: %s", strerror(errno));
    app->signals = mem_new(struct app_signals);
    app->signals->fd = fd;
    app->signals->io = io_open(app->control, fd, IO_READ, on_signal, app);
    return OK;
}

void app_signals_close(struct app *app)
{
    alarm(0);
    io_close(app->signals->io);
    close(app->signals->fd);
    mem_free(app->signals);
}
