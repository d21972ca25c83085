#include "base/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "test.h"

/* A file with the text, named in *path. */
static void write_ini(char path[64], const char *text)
{
    strcpy(path, "/tmp/earshot-test-XXXXXX");
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static char *no_environment[] = {NULL};

TEST(config_has_defaults)
{
    AUTO(config) config = NULL;
    REQUIRE(config_load(NULL, no_environment, &config, NULL) == OK);
    CHECK_TEXT(config_text(config, SET_LISTEN), "127.0.0.1:8080");
    CHECK_INT(config_int(config, SET_DRAIN_GRACE), 30);
    CHECK(!config_is_set(config, SET_LISTEN));
    CHECK_TEXT(config_text(config, SET_PUBLIC_URL), "");
    CHECK(config_engine(config, "openai", "url") == NULL);
}

TEST(config_reads_file_then_environment)
{
    char path[64];
    write_ini(path, "# a comment\n[service]\nlisten = 0.0.0.0:80\ndata=/srv/x ; inline\n\n"
                    "[engine.openai-stt]\nurl = http://127.0.0.1:9000\ncost_per_minute = 0.004\n");
    const char *environment[] = {"PATH=/bin",
                                 "EARSHOT_LISTEN=127.0.0.1:0",
                                 "EARSHOT_SERVICE_DRAIN_GRACE=5",
                                 "EARSHOT_ENGINE_OPENAI_STT_KEY=secret",
                                 "EARSHOT_ENGINE_SONIOX_COST_PER_MINUTE=0.01",
                                 "EARSHOT_BIN=x",
                                 "EARSHOT_TEST_LOG=y",
                                 NULL};
    AUTO(config) config = NULL;
    struct fault fault = {0};
    enum err err = config_load(path, (char **)environment, &config, &fault);
    unlink(path);
    CHECK_TEXT(fault.text, "");
    REQUIRE(err == OK);
    CHECK_TEXT(config_text(config, SET_LISTEN), "127.0.0.1:0");
    CHECK_TEXT(config_text(config, SET_DATA), "/srv/x");
    CHECK_INT(config_int(config, SET_DRAIN_GRACE), 5);
    CHECK(config_is_set(config, SET_LISTEN));
    CHECK_TEXT(config_engine(config, "openai-stt", "url"), "http://127.0.0.1:9000");
    CHECK_TEXT(config_engine(config, "openai-stt", "key"), "secret");
    CHECK_TEXT(config_engine(config, "openai-stt", "costPerMinute"), "0.004");
    CHECK_TEXT(config_engine(config, "soniox", "cost_per_minute"), "0.01");
    CHECK(config_engine(config, "openai", "url") == NULL);
}

TEST(config_names_the_line_of_a_fault)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"[service]\n\nlisten = x\nlisteen = y\n", "line 4: unknown setting service.listeen"},
        {"[servce]\nlisten = x\n", "line 2: unknown setting servce.listen"},
        {"[service]\ndrain_grace = soon\n", "line 2: service.drain_grace must be a whole number"},
        {"[service]\ndrain_grace = -1\n", "line 2: service.drain_grace must be 0 to 86400"},
        {"[log]\nlevel = loud\n", "line 2: log.level must be debug|info|warn|error"},
        {"[log]\nlevel =\n", "line 2: log.level must be debug|info|warn|error"},
        {"# x\nnonsense\n", "line 2: neither [section] nor name = value"},
        {"[engine.x]\nspeed = 1\n", "line 2: unknown setting engine.x.speed"},
        {"[engine.x]\nenabled = maybe\n", "line 2: engine.x.enabled must be true or false"},
        {"[engine.x]\ncost_per_minute = cheap\n",
         "line 2: engine.x.cost_per_minute must be a number"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char path[64];
        write_ini(path, cases[i].text);
        struct config *config = NULL;
        struct fault fault = {0};
        CHECK_INT(config_load(path, no_environment, &config, &fault), ERR_INVALID);
        unlink(path);
        if (!strstr(fault.text, cases[i].fault))
            test_fail(__FILE__, __LINE__, "got %s\n      want %s", fault.text, cases[i].fault);
        CHECK(config == NULL);
    }
}

TEST(config_takes_long_lines)
{
    char path[64];
    AUTO_BUF text = BUF_INIT(10000);
    buf_append_str(&text, "[service]\ndata = /");
    for (int i = 0; i < 1000; i++)
        buf_append_char(&text, 'x');
    buf_append_str(&text, "\nlisten = :1\nbad\n");
    write_ini(path, text.data);
    struct config *config = NULL;
    struct fault fault = {0};
    CHECK_INT(config_load(path, no_environment, &config, &fault), ERR_INVALID);
    CHECK(strstr(fault.text, "line 4: neither") != NULL);
    unlink(path);
}

TEST(config_refuses_unknown_variables)
{
    const char *bad[] = {"EARSHOT_LISTEN_ON=x", NULL};
    struct config *config = NULL;
    struct fault fault = {0};
    CHECK_INT(config_load(NULL, (char **)bad, &config, &fault), ERR_INVALID);
    CHECK_TEXT(fault.text, "environment: EARSHOT_LISTEN_ON: no such setting");
    CHECK_INT(config_load("/no/such.conf", no_environment, &config, &fault), ERR_INVALID);
    CHECK_TEXT(fault.text, "/no/such.conf: No such file or directory");
}

TEST(config_set_replaces)
{
    AUTO(config) config = NULL;
    REQUIRE(config_load(NULL, no_environment, &config, NULL) == OK);
    CHECK_INT(config_set(config, "service", "listen", ":1", NULL), OK);
    CHECK_INT(config_set(config, "engine.espeak", "enabled", "off", NULL), OK);
    CHECK_INT(config_set(config, "service", "nothing", ":1", NULL), ERR_INVALID);
    CHECK_TEXT(config_text(config, SET_LISTEN), ":1");
    CHECK_TEXT(config_engine(config, "espeak", "enabled"), "off");
}

TEST(config_prints_every_setting)
{
    static const char *const kinds[] = {"help", "markdown", "ini"};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        AUTO_BUF out = BUF_INIT(1 << 20);
        config_print(kinds[i], &out);
        CHECK(out.data && strstr(out.data, "drain_grace") && strstr(out.data, "cost_per_minute"));
    }
}

/* What docs/contract.md names as the beginning of an operator's settings. */
TEST(settings_begin_as_the_contract_says)
{
    AUTO(config) config = NULL;
    REQUIRE(config_load(NULL, no_environment, &config, NULL) == OK);
    CHECK_INT(config_int(config, SET_RATE_LIMIT), 600);
    CHECK_INT(config_int(config, SET_RATE_BURST), 100);
    CHECK_INT(config_int(config, SET_AUTH_FAIL_LIMIT), 60);
    CHECK_INT(config_int(config, SET_MAX_AGENTS), 1000);
    CHECK_INT(config_int(config, SET_MAX_TOOLS), 2000);
    CHECK_INT(config_int(config, SET_MAX_KEYS), 100);
    CHECK_INT(config_int(config, SET_MAX_STORAGE), 64);
    CHECK_INT(config_int(config, SET_DOCUMENTS_PER_HOUR), 100);
    CHECK_INT(config_int(config, SET_CALLER_SILENCE), 0); /* nobody is hung up on for silence */
}
