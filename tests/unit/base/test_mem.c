#include "base/mem.h"

#include "test.h"

TEST(mem_new_is_zeroed)
{
    struct thing {
        int a, b;
    } *thing = mem_new(struct thing);
    CHECK_INT(thing->a + thing->b, 0);
    mem_free(thing);
}

TEST(mem_copies_text)
{
    AUTO_MEM char *whole = mem_strdup("hello");
    AUTO_MEM char *part = mem_strndup("hello", 2);
    AUTO_MEM char *made = mem_printf("%s-%d", part, 7);
    CHECK_TEXT(whole, "hello");
    CHECK_TEXT(part, "he");
    CHECK_TEXT(made, "he-7");
    CHECK(mem_strdup(NULL) == NULL);
}

TEST(mem_realloc_keeps_what_was_there)
{
    int *numbers = mem_new_n(int, 2);
    numbers[1] = 5;
    numbers = mem_realloc_n(numbers, 100, sizeof(*numbers));
    CHECK_INT(numbers[1], 5);
    mem_free(numbers);
}
