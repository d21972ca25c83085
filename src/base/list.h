/* An intrusive doubly linked list: a head and nodes are both struct list_node. O(1) everything. */
#pragma once

#include <stdbool.h>

#include "base/armed.h"
#include "base/attr.h"

struct list_node {
    struct list_node *prev, *next;
};

static inline void list_init(struct list_node *head)
{
    head->prev = head->next = head;
}

static inline bool list_is_empty(const struct list_node *head)
{
    return head->next == head;
}

static inline void list_push_back(struct list_node *head, struct list_node *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
    armed_add(node, ARMED_NODE);
}

static inline void list_push_front(struct list_node *head, struct list_node *node)
{
    list_push_back(head->next, node);
}

/* The node may be unlinked already (prev NULL after list_remove or zeroed memory): then nothing
 * happens. */
static inline void list_remove(struct list_node *node)
{
    if (!node->prev)
        return;
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->prev = node->next = NULL;
    armed_remove(node, ARMED_NODE);
}

static inline bool list_is_linked(const struct list_node *node)
{
    return node->prev != NULL;
}

#define LIST_FIRST(head, type, member)                                                             \
    (list_is_empty(head) ? NULL : CONTAINER_OF((head)->next, type, member))

/* for each `var` (a type *) in the list; the current one may be removed. */
#define LIST_EACH(var, head, type, member)                                                         \
    for (struct list_node *node_##var = (head)->next, *next_##var = node_##var->next;              \
         node_##var != (head) && ((var) = CONTAINER_OF(node_##var, type, member), 1);              \
         node_##var = next_##var, next_##var = node_##var->next)
