#include "base/list.h"

#include "test.h"

struct item {
    int value;
    struct list_node node;
};

static int sum_in_order(struct list_node *head)
{
    int sum = 0;
    struct item *item;
    LIST_EACH (item, head, struct item, node)
        sum = sum * 10 + item->value;
    return sum;
}

TEST(list_keeps_order)
{
    struct list_node head;
    struct item a = {.value = 1}, b = {.value = 2}, c = {.value = 3};
    list_init(&head);
    CHECK(list_is_empty(&head));
    CHECK(LIST_FIRST(&head, struct item, node) == NULL);
    list_push_back(&head, &b.node);
    list_push_back(&head, &c.node);
    list_push_front(&head, &a.node);
    CHECK_INT(sum_in_order(&head), 123);
    CHECK(LIST_FIRST(&head, struct item, node) == &a);
    list_remove(&b.node);
    CHECK(!list_is_linked(&b.node));
    list_remove(&b.node);
    CHECK_INT(sum_in_order(&head), 13);
}

TEST(list_current_may_be_removed)
{
    struct list_node head;
    struct item items[5] = {{.value = 1}, {.value = 2}, {.value = 3}, {.value = 4}, {.value = 5}};
    list_init(&head);
    for (int i = 0; i < 5; i++)
        list_push_back(&head, &items[i].node);
    struct item *item;
    LIST_EACH (item, &head, struct item, node) {
        if (item->value % 2)
            list_remove(&item->node);
    }
    CHECK_INT(sum_in_order(&head), 24);
}
