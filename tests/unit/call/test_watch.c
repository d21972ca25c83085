/* Who watches a call: told in order, by call. */
#include "call/watch.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "test.h"

struct seen {
    char text[100];
};

static void on_news(void *arg, enum call_news news, const char *text)
{
    struct seen *seen = arg;
    size_t len = strlen(seen->text);
    snprintf(seen->text + len, sizeof(seen->text) - len, "%d%s ", news, text ? text : "");
}

TEST(watchers_of_a_call_are_told_of_it_alone)
{
    AUTO(watches) watches = watches_new();
    struct seen one = {""}, two = {""}, other = {""};
    struct calls_watch *a = watches_add(watches, "call-1", on_news, &one);
    struct calls_watch *b = watches_add(watches, "call-1", on_news, &two);
    struct calls_watch *c = watches_add(watches, "call-2", on_news, &other);
    watches_tell(watches, "call-1", CALL_NEWS_STATE, "speaking");
    watches_tell(watches, "nobody's", CALL_NEWS_STORED, NULL);
    CHECK_TEXT(one.text, "1speaking ");
    calls_unwatch(a);
    watches_tell(watches, "call-1", CALL_NEWS_STORED, NULL);
    CHECK_TEXT(one.text, "1speaking ");
    CHECK_TEXT(two.text, "1speaking 0 ");
    CHECK_TEXT(other.text, "");
    calls_unwatch(b);
    calls_unwatch(c);
    watches_tell(watches, "call-1", CALL_NEWS_STORED, NULL);
}
