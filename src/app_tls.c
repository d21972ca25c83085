/* The certificate of the service. Browsers give a microphone on localhost or over HTTPS only, so a
 * service that is reachable from outside never starts without one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/addr.h"
#include "net/tls.h"

enum {
    PEM_MAX_BYTES = 64 * 1024,
    NAMES_MAX = 16,
    RENEW_DAYS = 800, /* of the 825 that a self-signed certificate lives */
};

static enum err write_file(const char *path, const struct buf *text, struct fault *fault)
{
    AUTO_MEM char *fresh = mem_printf("%s.new", path);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool is_written = fd >= 0 && write(fd, text->data, text->len) == (ssize_t)text->len;
    is_written = fd >= 0 && close(fd) == 0 && is_written;
    if (!is_written || rename(fresh, path) != 0)
        return fault_set(fault, ERR_IO, "cannot write %s: %s", path, strerror(errno));
    return OK;
}

static bool is_fresh(const char *path)
{
    struct stat file;
    int64_t least_s = clock_wall_ms() / 1000 - RENEW_DAYS * INT64_C(86400);
    return stat(path, &file) == 0 && file.st_mtime > least_s;
}

/* The names that a browser may know this machine by. */
static size_t own_names(char names[NAMES_MAX][NET_IP_SIZE + 64])
{
    size_t count = 0;
    if (gethostname(names[count], sizeof(names[0])) == 0 && names[count][0])
        count++;
    snprintf(names[count++], sizeof(names[0]), "localhost");
    struct net_addr addresses[NAMES_MAX - 2];
    size_t n = net_local_addresses(addresses, ARRAY_LEN(addresses));
    for (size_t i = 0; i < n; i++)
        net_ip_print(&addresses[i], names[count++]);
    return count;
}

static enum err make_certificate(const char *cert_path, const char *key_path, struct fault *fault)
{
    char names[NAMES_MAX][NET_IP_SIZE + 64];
    const char *list[NAMES_MAX];
    size_t count = own_names(names);
    for (size_t i = 0; i < count; i++)
        list[i] = names[i];
    AUTO_BUF cert = BUF_INIT(PEM_MAX_BYTES), key = BUF_INIT(PEM_MAX_BYTES);
    enum err err = tls_self_signed(list, count, &cert, &key, fault);
    if (!err)
        err = write_file(key_path, &key, fault);
    return err ? err : write_file(cert_path, &cert, fault);
}

static enum err open_self_signed(struct app *app, struct fault *fault)
{
    const char *data = config_text(app->config, SET_DATA);
    AUTO_MEM char *cert = mem_printf("%s/self-signed.crt", data);
    AUTO_MEM char *key = mem_printf("%s/self-signed.key", data);
    enum err err = is_fresh(cert) ? OK : make_certificate(cert, key, fault);
    if (err)
        return err;
    log_warn("tls.self_signed", LOG_S("certificate", cert),
             LOG_S("note", "browsers will warn; set tls.cert and tls.key to one of your own"));
    return tls_server_new(cert, key, &app->tls, fault);
}

enum err app_tls_open(struct app *app, const struct net_addr *listen, struct fault *fault)
{
    const char *cert = config_text(app->config, SET_TLS_CERT);
    const char *key = config_text(app->config, SET_TLS_KEY); /* both or none: own_url_check() */
    if (*cert)
        return tls_server_new(cert, key, &app->tls, fault);
    return own_url_has_tls(app->config, listen) ? open_self_signed(app, fault) : OK;
}
