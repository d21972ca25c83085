/* The defaults of a new agent can hear and speak the default language, or the service says why not.
 */
#include "model/catalog.h"

#include "model/workspace.h"
#include "test.h"

static const char *const en[] = {"en"}, *const both[] = {"en", "hi"}, *const hi[] = {"hi"};

struct rig {
    struct arena *arena;
    struct catalog catalog;
    struct catalog_stt stt[2];
    struct catalog_tts tts[2];
    struct catalog_voice voices[3];
};

static void rig_begin(struct rig *rig, const char *language, const char *disabled)
{
    *rig = (struct rig){
        .arena = arena_new(0),
        .stt = {{.id = "ear",
                 .languages = {(const char **)en, 1},
                 .is_default = true,
                 .is_enabled = true},
                {.id = "ear-of-all", .is_enabled = true}},
        .tts = {{.id = "flite",
                 .languages = {(const char **)en, 1},
                 .default_speaker = "slt",
                 .is_default = true,
                 .is_enabled = true},
                {.id = "espeak",
                 .languages = {(const char **)both, 2},
                 .default_speaker = "joe",
                 .is_enabled = true}},
        .voices = {{.id = "slt", .provider = "flite", .languages = {(const char **)en, 1}},
                   {.id = "joe", .provider = "espeak", .languages = {(const char **)en, 1}},
                   {.id = "asha", .provider = "espeak", .languages = {(const char **)hi, 1}}},
    };
    catalog_init(&rig->catalog, language, disabled, rig->arena);
    rig->catalog.stt = (struct catalog_stt_list){rig->stt, 2};
    rig->catalog.tts = (struct catalog_tts_list){rig->tts, 2};
    rig->catalog.voices = (struct catalog_voice_list){rig->voices, 3};
}

TEST(defaults_that_can_are_left_as_they_are)
{
    struct rig rig;
    rig_begin(&rig, "en", "hi");
    CHECK_INT(catalog_settle_defaults(&rig.catalog, NULL, "flite", NULL), OK);
    CHECK(rig.stt[0].is_default && rig.tts[0].is_default && !rig.tts[1].is_default);
    CHECK_TEXT(rig.tts[0].default_speaker, "slt");
    arena_free(rig.arena);
}

TEST(another_engine_and_speaker_take_over_when_the_first_cannot)
{
    struct rig rig;
    rig_begin(&rig, "hinglish", "");
    CHECK_INT(catalog_settle_defaults(&rig.catalog, NULL, NULL, NULL), OK);
    CHECK(!rig.stt[0].is_default && rig.stt[1].is_default);
    CHECK(!rig.tts[0].is_default && rig.tts[1].is_default);
    CHECK_TEXT(rig.tts[1].default_speaker, "asha");
    arena_free(rig.arena);
}

TEST(what_cannot_be_is_refused_with_a_reason)
{
    static const struct {
        const char *language, *disabled, *asked_stt, *asked_tts, *reason;
    } rows[] = {
        {"hi", "hi", NULL, NULL, "switched off"},
        {"xx", "", NULL, NULL, "no language"},
        {"hi", "", "ear", NULL, "not heard by the engine that is made the default"},
        {"hi", "", NULL, "flite", "not spoken by the engine that is made the default"},
        {"ta", "", NULL, NULL, "not spoken by any voice engine"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig rig;
        struct fault fault = {0};
        rig_begin(&rig, rows[i].language, rows[i].disabled);
        CHECK_INT(
            catalog_settle_defaults(&rig.catalog, rows[i].asked_stt, rows[i].asked_tts, &fault),
            ERR_INVALID);
        if (!CHECK(strstr(fault.text, rows[i].reason)))
            CHECK_TEXT(fault.text, rows[i].reason);
        arena_free(rig.arena);
    }
    CHECK_INT(catalog_check_languages("hi, ta,en", NULL), OK);
    CHECK_INT(catalog_check_languages("hi,klingon", NULL), ERR_INVALID);
}

TEST(a_name_is_printable)
{
    CHECK(workspace_name_is_good("Ä \"b\" 你好"));
    static const char *const bad[] = {"", " ", "a\nb", "a\x7f", "\xff", "a\xc2\x85"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK(!workspace_name_is_good(bad[i]));
    char name[102];
    memset(name, 'x', 101);
    name[101] = '\0';
    CHECK(!workspace_name_is_good(name));
    CHECK(workspace_name_is_good(name + 1));
}
