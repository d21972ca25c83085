/* earshot studio link: how an operator lets the first person into a workspace's studio. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/ids.h"
#include "base/mem.h"
#include "cli/ask.h"
#include "cli/commands.h"
#include "cli/local_store.h"
#include "cli/own_url.h"
#include "cli/print.h"
#include "store/session.h"

struct link_job {
    const char *workspace_id, *email;
    char link[KEY_SIZE];
};

static enum err link_job(struct tx *tx, void *arg)
{
    struct link_job *job = arg;
    enum err err = store_link_for(tx, job->workspace_id, job->email, job->link);
    return err == ERR_NOT_FOUND ? fault_set(&tx->fault, err, "no such workspace") : err;
}

/* As the running service says, which knows its port. */
static bool ask_url(const struct config *config, char out[OWN_URL_SIZE])
{
    AUTO(js) tree = NULL;
    struct fault none = {0};
    if (ask_service(config, &tree, NULL, &none))
        return false;
    const struct js *url = js_get(js_get(tree, "service"), "publicUrl");
    return snprintf(out, OWN_URL_SIZE, "%s", js_text_or(url, "")) > 0;
}

/* The address that the service is reached by. */
static enum err find_url(const struct config *config, char out[OWN_URL_SIZE], struct fault *fault)
{
    const char *listen = config_text(config, SET_LISTEN);
    struct net_addr address;
    if (net_addr_parse(listen, &address))
        return fault_set(fault, ERR_INVALID, "service.listen: '%.80s' is no address:port", listen);
    enum err err = own_url_check(config, fault);
    if (!err && (*config_text(config, SET_PUBLIC_URL) || !ask_url(config, out)))
        own_url(config, &address, out);
    return err;
}

static int run_link(const struct invocation *call)
{
    const char *email = invocation_value(call, "email");
    AUTO_MEM char *lower = mem_strdup(email ? email : "");
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    struct link_job job = {.workspace_id = invocation_value(call, "workspace"), .email = lower};
    struct fault fault = {0};
    if (*lower && !strchr(lower, '@')) {
        fault_set(&fault, ERR_INVALID, "--email must be an e-mail address");
        return command_fail(&fault);
    }
    char url[OWN_URL_SIZE];
    if (find_url(call->config, url, &fault) ||
        local_store_run(call->config, STORE_WRITE, link_job, &job, &fault))
        return command_fail(&fault);
    AUTO_BUF line = BUF_INIT(PRINT_MAX_BYTES);
    if (!invocation_has(call, "json")) {
        buf_printf(&line, "%s/studio#link=%s\n(signs in once, within 15 minutes)\n", url, job.link);
        return print_lines(&line);
    }
    struct js_out out;
    js_out_init(&out, &line);
    js_out_object(&out);
    js_out_key(&out, "url");
    AUTO_MEM char *whole = mem_printf("%s/studio#link=%s", url, job.link);
    js_out_text(&out, whole);
    PRINT_MEMBER(&out, "link", text, job.link);
    js_out_object_end(&out);
    return print_line(&line);
}

static const struct option link_options[] = {
    {"workspace", "ID", "Whose studio.", true},
    {"email", "ADDRESS", "Of the member; an owner of that address is made when there is none.",
     false},
    {"json", NULL, "Print JSON.", false},
};
const struct command command_studio_link = {
    "studio link", "Prints a link that signs in to the studio once.",
    link_options,  ARRAY_LEN(link_options),
    false,         run_link};
