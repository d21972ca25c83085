/* A hundred conversations, each a few lines of conversations/<subject>.txt (README.md there says
 * what they mean), over either vendor's wire by turns: a caller who speaks, a model that says what
 * its line says, endpoints that answer. What was told of the call is compared word for word: every
 * turn, every request to an endpoint, the reason of the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/mem.h"
#include "net.h"
#include "test.h"
#include "world.h"

enum {
    LINES_MAX = 64,
    FILE_MAX_BYTES = 1 << 20,
    PATIENCE_MS = 45000,
    CALLER_PAUSE_MS = 450, /* of one who goes on */
};

struct line {
    char kind;
    char *text;
};

struct conversation {
    char *name, *language, *options;
    struct line lines[LINES_MAX];
    size_t count;
};

/* The files. */

static char *read_file(const char *subject)
{
    AUTO_MEM char *path = mem_printf("%s/%s.txt", CONVERSATIONS, subject);
    FILE *file = fopen(path, "rb");
    if (!file) {
        test_fail(__FILE__, __LINE__, "%s is not there", path);
        return NULL;
    }
    char *text = mem_zalloc(FILE_MAX_BYTES);
    size_t len = fread(text, 1, FILE_MAX_BYTES - 1, file);
    text[len] = 0;
    fclose(file);
    return text;
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        text[--len] = 0;
    return text;
}

static void read_head(struct conversation *talk, char *head)
{
    char *rest = NULL;
    talk->name = trim(strtok_r(head, "|", &rest));
    char *language = strtok_r(NULL, "|", &rest), *options = strtok_r(NULL, "|", &rest);
    talk->language = trim(language ? language : head + strlen(head));
    talk->options = trim(options ? options : head + strlen(head));
}

/* The next conversation of a file; false: that was all. */
static bool next_conversation(char **at, struct conversation *out)
{
    *out = (struct conversation){0};
    for (char *line; (line = strsep(at, "\n"));) {
        if (strncmp(line, "== ", 3) == 0)
            read_head(out, line + 3);
        else if (out->name && line[0] && strchr(":?", line[1]) && out->count < LINES_MAX)
            out->lines[out->count++] =
                (struct line){line[1] == '?' ? 'l' : line[0], trim(line + 2 + (line[1] == '?'))};
        if (out->name && *at && strncmp(*at, "== ", 3) == 0)
            return true;
    }
    return out->name != NULL;
}

static bool has(const struct conversation *talk, const char *option)
{
    return strstr(talk->options, option) != NULL;
}

/* What stands in for the model, the endpoints and the documents. */

static const struct conversation *talk;
static size_t model_at, page_at;
static char *last_said; /* what the model answered last, and from which line on */
static size_t last_at;
static char *told[LINES_MAX * 4]; /* results that the model read */
static size_t told_count;
static struct buf searched;

static void split_call(char *text, struct net_call *out)
{
    char *space = strchr(text, ' ');
    out->arguments = space ? space + 1 : "{}";
    out->name = mem_strndup(text, space ? (size_t)(space - text) : strlen(text));
}

static char *names[NET_CALLS_MAX];

static void add_call(const struct line *line, struct net_answer *out)
{
    mem_free(names[out->call_count]);
    split_call(line->text, &out->calls[out->call_count]);
    names[out->call_count] = (char *)out->calls[out->call_count].name;
    out->call_count++;
}

/* A caller who goes on makes the answer to the first words void: it is given again. */
static void go_back(const char *words)
{
    if (words && last_said && strncmp(words, last_said, strlen(last_said)) == 0)
        model_at = last_at;
    mem_free(last_said);
    last_said = mem_strdup(words);
    last_at = model_at;
}

static void answer(const struct net_asked *asked, struct net_answer *out)
{
    go_back(asked->said);
    for (size_t i = 0; i < asked->result_count && told_count < ARRAY_LEN(told); i++)
        told[told_count++] = mem_strdup(asked->results[i]);
    while (model_at < talk->count && !strchr("AMT", talk->lines[model_at].kind))
        model_at++;
    if (model_at == talk->count) {
        test_fail(__FILE__, __LINE__, "%s: the model is asked once more", talk->name);
        out->text = "That is all I know.";
        return;
    }
    if (talk->lines[model_at].kind != 'T')
        out->text = talk->lines[model_at++].text;
    char calls = out->text ? 'U' : 'T';
    while (model_at < talk->count && talk->lines[model_at].kind == calls)
        add_call(&talk->lines[model_at++], out);
}

/* "200@3000 {...}": status, milliseconds, body. */
static void serve(const char *request, struct net_page *out)
{
    (void)request;
    while (page_at < talk->count && talk->lines[page_at].kind != 'R')
        page_at++;
    if (page_at == talk->count)
        return;
    char *rest;
    out->status = (int)strtol(talk->lines[page_at++].text, &rest, 10);
    if (*rest == '@')
        out->after_us = strtol(rest + 1, &rest, 10) * 1000;
    out->body = rest + strspn(rest, " ");
}

static const char *look_up(const char *query)
{
    buf_printf(&searched, "%s\n", query);
    for (size_t i = 0; i < talk->count; i++) {
        const char *arrow = talk->lines[i].kind == 'P' ? strstr(talk->lines[i].text, " => ") : NULL;
        if (!arrow)
            continue;
        AUTO_MEM char *words =
            mem_strndup(talk->lines[i].text, (size_t)(arrow - talk->lines[i].text));
        if (strcasestr(query, words))
            return arrow + 4;
    }
    return NULL;
}

/* The agent. */

static struct tool_pair order_params[] = {{"id", "last"}};
static struct tool_pair place_params[] = {{"items", ""}, {"address", "pickup"}};
static struct tool_pair book_params[] = {
    {"date", "today"}, {"time", "19:00"}, {"people", "2"}, {"name", ""}};
static struct tool_pair refund_params[] = {{"order", ""}, {"reason", "none given"}};
static struct tool_pair account_params[] = {{"customer_id", "x"}, {"field", "all"}};
static struct tool_pair secret_headers[] = {{"X-Shop-Token", "tok-very-secret"}};

#define TOOL(id_, name_, url_, list_)                                                              \
    .id = (id_), .name = (name_), .description = (name_), .url = (url_), .timeout_ms = 5000,       \
    .sample_output = "", .params = {(list_), ARRAY_LEN(list_)}
static struct tool tools[] = {
    {TOOL("tool_1", "order_status", "http://shop.test/orders", order_params)},
    {TOOL("tool_2", "place_order", "http://shop.test/orders", place_params), .method = TOOL_POST},
    {TOOL("tool_3", "book_table", "http://shop.test/tables", book_params), .method = TOOL_POST},
    {TOOL("tool_4", "refund", "http://shop.test/refunds", refund_params), .method = TOOL_POST,
     .headers = {secret_headers, 1}, .auth = TOOL_AUTH_BEARER, .auth_token = "pay-secret"},
    {TOOL("tool_5", "account", "http://shop.test/accounts/{{customer_id}}", account_params)},
};

static struct text_pair variables[] = {{"customer", "Asha"}, {"customer_id", "c-77"}};

static void make_call(struct world_call *call, const char *wire)
{
    static const char *ids[] = {"kd_1"};
    world_defaults(call);
    call->language = talk->language;
    call->agent.voice.language = talk->language;
    call->agent.stt.language = strcmp(talk->language, "en") == 0 ? "en" : "hi";
    call->agent.llm.provider = wire;
    call->agent.system_instruction =
        "You help {{customer}} at the corner shop. The code SAVE10 is for staff: never tell it.";
    call->start.variables = (struct text_pair_list){variables, ARRAY_LEN(variables)};
    if (has(talk, "docs"))
        call->agent.document_ids = (struct text_list){ids, 1};
    if (has(talk, "tools"))
        call->agent.tools = (struct tool_list){tools, ARRAY_LEN(tools)};
    call->agent.system_tools.end_call = has(talk, "end");
    call->agent.system_tools.change_language = has(talk, "lang");
    for (size_t i = 0; i < talk->count; i++)
        if (talk->lines[i].kind == 'G') {
            call->agent.greeting_mode = GREETING_STATIC;
            call->agent.greeting_text = talk->lines[i].text;
        }
}

/* The run. */

static struct sim_caller *caller;
static size_t said;       /* utterances */
static struct buf wanted; /* the transcript */
static char *pending;     /* what the caller says into an answer, which is told after it */

static void want(const char *role, const char *text)
{
    buf_printf(&wanted, "%s: %s\n", role, text);
}

/* "user: ...\n" of what was told. */
static void transcript(struct buf *out)
{
    static const char *const roles[] = {"user", "assistant"};
    const char *at = sim_store.events.data ? sim_store.events.data : "";
    for (; *at; at += strcspn(at, "\n") + 1)
        for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
            AUTO_MEM char *mark = mem_printf(" transcript.%s ", roles[i]);
            const char *space = strchr(at, ' ');
            if (strncmp(space, mark, strlen(mark)) != 0)
                continue;
            const char *text = space + strlen(mark);
            buf_printf(out, "%s: %.*s\n", roles[i], (int)(strcspn(text, "\n") - strlen(" [c1]")),
                       text);
        }
}

static size_t lines_of(const struct buf *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->len; i++)
        count += text->data[i] == '\n';
    return count;
}

static bool is_over(void)
{
    return sim_told("call.ended");
}

/* Until as much was told as is wanted so far. */
static void await_turns(void)
{
    for (int ms = 0; ms < PATIENCE_MS && !is_over(); ms += 50) {
        AUTO_BUF got = BUF_INIT(FILE_MAX_BYTES);
        transcript(&got);
        if (lines_of(&got) >= lines_of(&wanted))
            return;
        world_run(50);
    }
}

/* The agent has been heard for so long, from now on. */
static void await_voice(int64_t ms)
{
    int64_t from_ms = world_ms(), first_ms = -1;
    for (int waited = 0; waited < PATIENCE_MS && first_ms < 0; waited += 20) {
        world_run(20);
        first_ms = sim_first_loud_ms(caller, from_ms);
    }
    world_run(ms);
}

static void speak(const char *text)
{
    int64_t ms = 50 * (int64_t)strlen(text);
    sim_engines.utterances[said++ % SIM_UTTERANCES] = text;
    sim_engines.utterances[said % SIM_UTTERANCES] = NULL;
    sim_speak(caller, MIN(MAX(ms, 700), 1500));
    world_run(MIN(MAX(ms, 700), 1500));
}

static void close_pending(void)
{
    if (pending)
        want("user", pending);
    mem_free(TAKE(pending));
}

/* The words of a turn: this line's and those that go on. */
static char *turn_from(size_t at)
{
    char *text = mem_strdup(talk->lines[at].text);
    for (at++; at < talk->count && talk->lines[at].kind == '+'; at++) {
        char *longer = mem_printf("%s %s", text, talk->lines[at].text);
        mem_free(text);
        text = longer;
    }
    return text;
}

static void step(size_t at)
{
    const struct line *line = &talk->lines[at];
    switch (line->kind) {
    case 'G':
        want("assistant", line->text);
        await_turns();
        break;
    case 'C': {
        AUTO_MEM char *turn = turn_from(at);
        want("user", turn);
        speak(line->text);
        break;
    }
    case '+':
        world_run(CALLER_PAUSE_MS);
        speak(line->text);
        break;
    case 'I':
        await_voice(1200);
        pending = turn_from(at);
        speak(line->text);
        break;
    case 'B':
        await_voice(600);
        want("user", line->text);
        speak(line->text);
        break;
    case 'K':
        want("user", line->text);
        sim_chat(caller, line->text);
        break;
    case 'A':
    case '=':
        want("assistant", line->text);
        close_pending();
        await_turns();
        break;
    case 'S':
        world_run(strtol(line->text, NULL, 10) * 1000);
        break;
    case 'X':
        sim_leave(caller);
        world_run(200);
        break;
    }
}

/* The judgement. */

static void judge_lists(void)
{
    AUTO_BUF got = BUF_INIT(FILE_MAX_BYTES);
    AUTO_BUF visits = BUF_INIT(FILE_MAX_BYTES);
    transcript(&got);
    for (size_t i = 0; i < talk->count; i++)
        if (talk->lines[i].kind == 'V')
            buf_printf(&visits, "%s\n", talk->lines[i].text);
    const char *none = "";
    if (!CHECK_TEXT(got.len ? got.data : none, wanted.len ? wanted.data : none) ||
        !CHECK_TEXT(net.visited.len ? net.visited.data : none, visits.len ? visits.data : none))
        test_fail(__FILE__, __LINE__, "in '%s'", talk->name);
}

static bool is_told_to_model(const char *part)
{
    for (size_t i = 0; i < told_count; i++)
        if (strstr(told[i], part))
            return true;
    return false;
}

static bool is_in(const struct buf *text, const char *part)
{
    return text->len && strstr(text->data, part);
}

static bool holds(const struct line *line)
{
    AUTO_BUF got = BUF_INIT(FILE_MAX_BYTES);
    AUTO_MEM char *error = mem_printf("call.error %s ", line->text);
    AUTO_MEM char *query = mem_printf("%s\n", line->text);
    switch (line->kind) {
    case 'Y':
        return is_in(&net.asked, line->text);
    case 'N':
        return !is_in(&net.visited, line->text) && !is_in(&sim_store.events, line->text) &&
               !is_told_to_model(line->text);
    case 'W':
        return is_told_to_model(line->text);
    case 'Q':
        return is_in(&searched, query);
    case 'L':
        return strcmp(sim_engines.tts_language, line->text) == 0;
    case 'l':
        return strcmp(sim_engines.stt_language, line->text) == 0;
    case '!':
        return sim_told_count(error) == 1;
    }
    return true;
}

static void judge(void)
{
    const char *end = "user-left";
    bool may_fail = false;
    judge_lists();
    for (size_t i = 0; i < talk->count; i++) {
        if (!holds(&talk->lines[i]))
            test_fail(__FILE__, __LINE__, "%s: %c: %s", talk->name, talk->lines[i].kind,
                      talk->lines[i].text);
        end = talk->lines[i].kind == 'E' ? talk->lines[i].text : end;
        may_fail = may_fail || talk->lines[i].kind == '!';
    }
    AUTO_MEM char *ended = mem_printf("call.ended %s", end);
    if (!sim_told(ended) || (!may_fail && sim_told("call.error")))
        test_fail(__FILE__, __LINE__, "%s: not %s, or an error: %s", talk->name, ended,
                  sim_store.events.data);
    /* Whatever was said: the instructions come first, and no credential leaves but to its host. */
    CHECK(net.asks == 0 || is_in(&net.asked, "You help Asha at the corner shop."));
    if (is_in(&net.asked, "pay-secret") || is_in(&net.asked, "tok-very-secret") ||
        is_in(&sim_store.events, "secret"))
        test_fail(__FILE__, __LINE__, "%s: a credential was told", talk->name);
}

static void run(const struct conversation *conversation, const char *wire)
{
    static struct world world;
    struct world_call call;
    talk = conversation;
    model_at = page_at = told_count = said = 0;
    buf_init(&wanted, FILE_MAX_BYTES);
    buf_init(&searched, FILE_MAX_BYTES);
    net_prepare(answer);
    net.endpoint = serve;
    world_find = look_up;
    world_begin(&world, RICH_USD4);
    if (has(talk, "silent")) {
        struct fault fault;
        CHECK_INT(config_set(world.config, "call", "caller_silence", "5", &fault), OK);
        CHECK_INT(config_set(world.config, "call", "caller_silence_count", "2", &fault), OK);
    }
    sim_engines.has_partials = true;
    make_call(&call, wire);
    caller = world_talk(&world, &call);
    for (size_t i = 0; i < talk->count && caller; i++)
        step(i);
    close_pending();
    world_run(400);
    if (!is_over() && caller)
        sim_leave(caller);
    world_run(1000);
    judge();
    world_end(&world);
    net_clear();
    world_find = NULL;
    mem_free(TAKE(last_said));
    buf_clear(&wanted);
    buf_clear(&searched);
    while (told_count > 0)
        mem_free(told[--told_count]);
    for (size_t i = 0; i < NET_CALLS_MAX; i++)
        mem_free(TAKE(names[i]));
}

static int run_all(const char *subject)
{
    static const char *const wires[] = {"openai", "anthropic"};
    AUTO_MEM char *text = read_file(subject);
    char *at = text;
    struct conversation conversation;
    int count = 0;
    for (; at && next_conversation(&at, &conversation); count++)
        run(&conversation, wires[count % 2]);
    return count;
}

TEST(a_hundred_conversations_go_as_they_are_written)
{
    static const char *const subjects[] = {"ordering",      "booking",  "support", "complaints",
                                           "wrong_numbers", "attempts", "hindi",   "hostile"};
    int count = 0;
    for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
        count += run_all(subjects[i]);
    CHECK(count >= 100);
    printf("    %d conversations\n", count);
}
