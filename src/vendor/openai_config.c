#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/mem.h"
#include "vendor/chat_lesson.h"
#include "vendor/internal.h"
#include "vendor/openai.h"

enum { REQUESTS_MOST = 400, REQUESTS_OF_A_WORKSPACE = 100 };

static const char standard_url[] = "https://api.openai.com/v1";

/* OpenAI's own and Groq's servers want the newer name of the cap; others know the older one. */
static void know_beforehand(struct openai *openai, size_t models)
{
    bool is_new = strstr(openai->url, "api.openai.com") || strstr(openai->url, "api.groq.com");
    openai->lessons = mem_new_n(struct chat_lessons, models);
    for (size_t i = 0; i < models && is_new; i++)
        chat_lessons_keep(&openai->lessons[i], CHAT_COMPLETION_CAP, INT64_MAX);
}

static void note_secrets(struct openai *openai, const char *url, const char *key)
{
    const char *host = strstr(url, "://"), *query = strchr(url, '?');
    host = host ? host + 3 : url;
    size_t authority = strcspn(host, "/?#");
    const char *at = memrchr(host, '@', authority);
    openai->secrets[0] = key && *key ? mem_strdup(key) : NULL;
    openai->secrets[1] = at ? mem_strndup(host, (size_t)(at - host)) : NULL;
    openai->secrets[2] = query ? mem_strdup(query + 1) : NULL;
}

static size_t read_limit(const struct config *config, const struct engine_info *info,
                         const char *name, size_t standard)
{
    const char *text = config_engine(config, info->id, name);
    long long limit = text && *text ? strtoll(text, NULL, 10) : 0;
    return limit > 0 ? (size_t)limit : standard;
}

bool openai_configure(void *env, const struct config *config, const struct engine_info *info,
                      void **out_state)
{
    const char *url = config_engine(config, info->id, "url");
    const char *key = config_engine(config, info->id, "key");
    const char *reasoning = config_engine(config, info->id, "reasoning");
    if ((!url || !*url) && (!key || !*key))
        return false;
    struct openai *openai = mem_new(struct openai);
    url = url && *url ? url : standard_url;
    size_t len = strlen(url);
    while (len > 0 && url[len - 1] == '/')
        len--;
    openai->vendor = env;
    openai->url = mem_printf("%.*s/chat/completions", (int)len, url);
    openai->authorization = key && *key ? mem_printf("Bearer %s", key) : NULL;
    note_secrets(openai, url, key);
    openai->reasoning = mem_strdup(reasoning ? reasoning : "");
    openai->limits = (struct lane_limits){
        read_limit(config, info, "max_requests", REQUESTS_MOST),
        read_limit(config, info, "max_requests_per_workspace", REQUESTS_OF_A_WORKSPACE)};
    know_beforehand(openai, info->model_count);
    *out_state = openai;
    return true;
}

void openai_unconfigure(void *state)
{
    struct openai *openai = state;
    mem_free(openai->url);
    mem_free(openai->authorization);
    mem_free(openai->reasoning);
    mem_free(openai->lessons);
    for (size_t i = 0; i < OPENAI_SECRETS; i++)
        mem_free(openai->secrets[i]);
    mem_free(openai);
}
