/* What /readyz says to who runs the service. */
#include "api/internal.h"
#include "api/request.h"
#include "api/resources.h"
#include "base/clock.h"
#include "base/config.h"
#include "engine/registry.h"
#include "test.h"
#include "unit/store/fixture.h"

static const struct llm_ops ops;
static const struct engine_adapter adapters[] = {
    {.info = {.kind = ENGINE_LLM, .id = "brain", .label = "The brain", .languages = "*"},
     .ops.llm = &ops},
};

static void check_ready(const struct api_deps *deps, int status, const char *text)
{
    static const struct route row = {"GET", "/readyz"};
    struct request request = {.arena = arena_new(0), .deps = deps, .head.route = &row};
    answer_init(&request.answer, request.arena);
    ready_get(&request);
    CHECK_INT(request.answer.status, status);
    CHECK_TEXT(request.answer.body.data, text);
    answer_clear(&request.answer);
    arena_free(request.arena);
}

static bool is_ready(void *arg)
{
    return *(bool *)arg;
}

TEST(a_node_that_is_ready_names_the_engines_that_are_left_out)
{
    static char *none[] = {NULL};
    AUTO(config) config = NULL;
    AUTO(registry) registry = NULL;
    struct fault fault = {0};
    struct fix fix = {0};
    bool is_up = true;
    fix_begin(&fix, false);
    REQUIRE(config_load(NULL, none, &config, &fault) == OK);
    REQUIRE(registry_new(config, adapters, ARRAY_LEN(adapters), NULL, &registry, &fault) == OK);
    struct breaker *breaker = registry_find(registry, ENGINE_LLM, "brain")->breaker;
    const struct api_deps deps = {
        .store = fix.store, .registry = registry, .is_ready = is_ready, .arg = &is_up};
    check_ready(&deps, 200, "ready\n");
    for (int i = 0; i < BREAKER_CALLS; i++)
        breaker_failed(breaker, NULL, clock_now_us());
    check_ready(&deps, 200, "ready\nengines left out: brain\n");
    breaker_worked(breaker);
    check_ready(&deps, 200, "ready\n");
    is_up = false;
    check_ready(&deps, 503, "not ready\n");
    fix_end(&fix);
}
