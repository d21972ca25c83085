/* Which of several tools with one name a call gets. */
#include "api/tools_on.h"

#include "model/agent.h"
#include "test.h"

TEST(of_one_name_the_own_tool_wins_then_the_older)
{
    struct agent agent = {.id = "ua_1"};
    struct tool_head heads[] = {
        {.id = "tool_a", .agent_id = "", .name = "pay", .created_wall_ms = 1, .bytes = 10},
        {.id = "tool_b", .agent_id = "ua_1", .name = "pay", .created_wall_ms = 9, .bytes = 10},
        {.id = "tool_c", .agent_id = "", .name = "look", .created_wall_ms = 5, .bytes = 10},
        {.id = "tool_d", .agent_id = "", .name = "look", .created_wall_ms = 3, .bytes = 10},
        {.id = "tool_e", .agent_id = "", .name = "book", .created_wall_ms = 7, .bytes = 0},
        {.id = "tool_g", .agent_id = "", .name = "ask", .created_wall_ms = 4, .bytes = 10},
        {.id = "tool_f", .agent_id = "", .name = "ask", .created_wall_ms = 4, .bytes = 10},
    };
    struct tool_head_list list = {heads, ARRAY_LEN(heads)};
    tools_on_keep_best(&agent, &list);
    REQUIRE(list.count == 4);
    CHECK_TEXT(list.items[0].id, "tool_b");
    CHECK_TEXT(list.items[1].id, "tool_d");
    CHECK_TEXT(list.items[2].id, "tool_e");
    CHECK_TEXT(list.items[3].id, "tool_f"); /* made in one moment: the lesser id */
}
