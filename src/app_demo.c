/* The demonstration: a workspace, an agent 'Front desk' and its one-page document, made once and
 * found again by their names. The link holds the agent's publishable key, which is no secret.
 * Thread: the main thread, before the control loop runs. */
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "base/buf.h"
#include "base/ids.h"
#include "base/js.h"
#include "base/log.h"
#include "model/agent.h"
#include "model/document.h"
#include "model/workspace.h"
#include "store/agent.h"
#include "store/document.h"
#include "store/page.h"
#include "store/session.h"
#include "store/store.h"
#include "store/workspace.h"

static const char WORKSPACE[] = "Demo";
static const char AGENT[] = "Front desk";
static const char PAGE_NAME[] = "Willow Lane Hair Studio";
enum { BALANCE_USD4 = 1000 * 10000, CALLS = 20 };

/* Short sentences that are good to hear: an agent without a text model reads them out. */
static const char PAGE[] =
    "# Willow Lane Hair Studio\n"
    "\n"
    "Willow Lane Hair Studio is a small hair studio with four chairs. We have been cutting hair in "
    "this town for twelve years.\n"
    "\n"
    "## Opening hours\n"
    "We are open Tuesday to Friday from nine in the morning to six in the evening. On Saturday we "
    "are open from nine to four. We are closed on Sunday and Monday.\n"
    "\n"
    "## Address\n"
    "You find us at 12 Willow Lane, next to the library. The bus stop Market Square is two minutes "
    "away on foot.\n"
    "\n"
    "## Parking\n"
    "You can park behind the house, parking is free. The entrance is in Mill Street. Bicycles can "
    "stand in front of the window.\n"
    "\n"
    "## Prices\n"
    "A haircut for women costs forty five dollars. A haircut for men costs thirty dollars. A "
    "haircut "
    "for children under twelve costs eighteen dollars. Washing and drying is included. Color "
    "starts "
    "at seventy dollars. A beard trim costs fifteen dollars.\n"
    "\n"
    "## Booking an appointment\n"
    "You can book an appointment by phone or on our web site. A haircut takes about forty minutes. "
    "Color takes about two hours. On Saturday it is best to book one week ahead.\n"
    "\n"
    "## Cancellation\n"
    "You can cancel or move an appointment free of charge until the evening before. If you cancel "
    "on the same day we charge ten dollars.\n"
    "\n"
    "## Payment\n"
    "You can pay with cash or by card. We also sell gift cards for any amount.\n"
    "\n"
    "## Children and pets\n"
    "Children are welcome and there is a small corner with toys. Friendly dogs may come along "
    "too.\n"
    "\n"
    "## Our team\n"
    "Maria owns the studio and does color. Tom and Susan cut hair. Susan also does wedding hair.\n";

static const char AGENT_BODY[] =
    "{\"name\":\"Front desk\","
    "\"systemInstruction\":\"You answer the phone of Willow Lane Hair Studio. Answer in one or two "
    "short sentences, from the document only. When it does not say, tell the caller so kindly.\","
    "\"greetingMode\":\"static\","
    "\"greetingText\":\"Hello, this is Willow Lane Hair Studio. How can I help you?\","
    "\"embed\":{\"enabled\":true,\"maxCallSeconds\":900,\"dailySpendLimit\":100},"
    "\"systemTools\":{\"endCall\":true}}";

bool app_demo_may_move(const struct app *app, enum setting setting)
{
    return app->has_demo && !config_is_set(app->config, setting);
}

struct demo_job {
    const struct catalog *catalog;
    char public_key[KEY_SIZE], link[KEY_SIZE];
};

static enum err find_workspace(struct tx *tx, struct workspace *out)
{
    struct workspace_list list = {0};
    enum err err = store_workspace_list(tx, &list);
    for (size_t i = 0; i < list.count && !err; i++) {
        if (strcmp(list.items[i].name, WORKSPACE) != 0)
            continue;
        *out = list.items[i];
        return OK;
    }
    *out = (struct workspace){.name = WORKSPACE,
                              .plan = "standard",
                              .currency = "USD",
                              .balance_usd4 = BALANCE_USD4,
                              .max_concurrent_calls = CALLS};
    return err ? err : store_workspace_insert(tx, out);
}

static enum err insert_document(struct tx *tx, const char *workspace_id, struct document *out)
{
    field_defaults(&document_table, out);
    out->user_id = workspace_id;
    out->name = PAGE_NAME;
    out->kind = DOCUMENT_TEXT;
    out->bytes = sizeof(PAGE) - 1;
    const struct document_source source = {.data = PAGE, .len = sizeof(PAGE) - 1};
    return store_document_insert(tx, out, &source, 0);
}

static enum err insert_agent(struct tx *tx, const struct catalog *catalog, const char *workspace_id,
                             struct agent *out)
{
    struct document document = {0};
    enum err err = insert_document(tx, workspace_id, &document);
    if (err)
        return err;
    AUTO(js) body = NULL;
    struct field_context context;
    field_context_init(&context, tx->arena, catalog);
    err = js_parse(AGENT_BODY, sizeof(AGENT_BODY) - 1, 8, &body, &tx->fault);
    if (err)
        return err;
    struct js *ids = js_array();
    js_push(ids, js_string(document.id));
    js_set(body, "documentIds", ids);
    field_create(&agent_table, out, body, &context, "");
    agent_settle(out, body, &context);
    if (context.faults.count > 0)
        return fault_set(&tx->fault, ERR_INTERNAL, "the demo agent: %s: %s",
                         context.faults.items[0].field, context.faults.items[0].message);
    out->user_id = workspace_id;
    return store_agent_insert(tx, out);
}

/* The agent of an earlier start. ERR_NOT_FOUND: there is none. */
static enum err find_agent(struct tx *tx, const char *workspace_id, struct agent *out)
{
    const struct page_filter filter = {.workspace_id = workspace_id, .named = AGENT};
    struct page page;
    enum err err = store_page(tx, LISTED_AGENTS, &filter, &page);
    for (size_t i = 0; i < page.ids.count && !err; i++) {
        err = store_agent_get(tx, workspace_id, page.ids.items[i], out);
        if (!err && strcmp(out->name, AGENT) == 0)
            return OK;
    }
    return err ? err : ERR_NOT_FOUND;
}

static enum err demo_job(struct tx *tx, void *arg)
{
    struct demo_job *job = arg;
    struct workspace workspace;
    struct agent agent = {0};
    enum err err = find_workspace(tx, &workspace);
    if (!err)
        err = find_agent(tx, workspace.id, &agent);
    if (err == ERR_NOT_FOUND && !tx->fault.err)
        err = insert_agent(tx, job->catalog, workspace.id, &agent);
    if (err)
        return err;
    snprintf(job->public_key, sizeof(job->public_key), "%s", agent.public_key);
    return store_link_for(tx, workspace.id, "", job->link);
}

enum err app_demo(struct app *app, struct fault *fault)
{
    struct demo_job job = {.catalog = app->engines.catalog};
    enum err err = store_run(app->store, STORE_WRITE, demo_job, &job, fault);
    if (err)
        return err;
    snprintf(app->urls.demo, sizeof(app->urls.demo), "%s/try#key=%s&name=Front%%20desk",
             app->urls.own, job.public_key);
    snprintf(app->urls.studio, sizeof(app->urls.studio), "%s/studio#link=%s", app->urls.own,
             job.link);
    return OK;
}
