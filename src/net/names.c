#include "net/names.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/url.h"

enum {
    KEY_SIZE_MAX = URL_HOST_SIZE + 16 /* scope, host and port: the guard judges them together */
};

struct names {
    struct resolver *resolver;
    struct loop *loop;
    struct map *asked; /* struct question, by key */
};

/* One look-up under way. */
struct question {
    struct names *names;
    struct resolve *resolve;
    struct list_node waits;
    size_t key_len;
    char key[KEY_SIZE_MAX];
};

struct name_wait {
    struct list_node node;
    resolve_fn *fn;
    void *arg;
};

struct names *names_new(struct resolver *resolver, struct loop *loop)
{
    struct names *names = mem_new(struct names);
    names->resolver = resolver;
    names->loop = loop;
    names->asked = map_new();
    return names;
}

static int drop_question(void *arg, const void *key, size_t key_len, void *value)
{
    struct question *question = value;
    (void)arg, (void)key, (void)key_len;
    struct name_wait *wait;
    LIST_EACH(wait, &question->waits, struct name_wait, node)
    {
        list_remove(&wait->node);
        mem_free(wait);
    }
    resolve_cancel(question->resolve);
    mem_free(question);
    return 0;
}

void names_free(struct names *names)
{
    if (!names)
        return;
    map_each(names->asked, drop_question, NULL);
    map_free(names->asked);
    mem_free(names);
}

/* Who asks again inside a callback begins a new look-up. */
static void on_answer(void *arg, const struct net_addr *addrs, size_t count,
                      const struct fault *fault)
{
    struct question *question = arg;
    map_remove(question->names->asked, question->key, question->key_len);
    while (!list_is_empty(&question->waits)) {
        struct name_wait *wait = LIST_FIRST(&question->waits, struct name_wait, node);
        list_remove(&wait->node);
        wait->fn(wait->arg, addrs, count, fault);
        mem_free(wait);
    }
    mem_free(question);
}

static struct question *ask(struct names *names, const struct resolve_target *target)
{
    char key[KEY_SIZE_MAX];
    int len = snprintf(key, sizeof(key), "%d %u %s", (int)target->scope, (unsigned)target->port,
                       target->host);
    size_t key_len = MIN((size_t)len, sizeof(key) - 1);
    struct question *question = map_get(names->asked, key, key_len);
    if (question)
        return question;
    question = mem_new(struct question);
    question->names = names;
    question->key_len = key_len;
    memcpy(question->key, key, key_len);
    list_init(&question->waits);
    map_set(names->asked, key, key_len, question);
    question->resolve = resolve_start(names->resolver, target, names->loop, on_answer, question);
    return question;
}

struct name_wait *names_resolve(struct names *names, const struct resolve_target *target,
                                resolve_fn *fn, void *arg)
{
    struct question *question = ask(names, target);
    struct name_wait *wait = mem_new(struct name_wait);
    wait->fn = fn;
    wait->arg = arg;
    list_push_back(&question->waits, &wait->node);
    return wait;
}

void names_cancel(struct name_wait *wait)
{
    if (!wait)
        return;
    list_remove(&wait->node);
    mem_free(wait);
}
