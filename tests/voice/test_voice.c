/* The real speech programs: what a voice of ours says, the recogniser understands; and a worker
 * that dies is one error. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "hotel.h"
#include "line.h"
#include "link.h"
#include "rig.h"
#include "speaking.h"
#include "test.h"
#include "vendor/internal.h"
#include "vendor/voice_pool.h"

static const struct tts_config plain = {
    .language = "en", .speaker = "", .emotion = "", .model = "", .speed = 1, .volume = 1};

static double level(const struct spoken *spoken)
{
    double sum = 0;
    for (size_t i = 0; i < spoken->count; i++)
        sum += (double)spoken->samples[i] * spoken->samples[i];
    return spoken->count ? sqrt(sum / (double)spoken->count) : 0;
}

/* Errors in so many sentences, and whether words that were not sure were in them, each by one of
 * the two voices, as they come over a line; in a call of its own, or all in one. */
static void hear_all(const char *vocabulary, const char *const *sentences, size_t count,
                     size_t every, bool is_first, unsigned most_percent)
{
    static const char *const speakers[] = {"slt", "rms"};
    struct speech_rig rig;
    struct heard heard;
    unsigned errors = 0;
    size_t words = 0, faults = 0, marked = 0;
    speech_rig_open(&rig);
    struct stt *stt = speech_rig_listen(&rig, vocabulary, &heard);
    for (size_t i = 0; i < count; i += every) {
        struct said said;
        struct carried carried;
        said_by(speakers[i / every % ARRAY_LEN(speakers)], sentences[i], &said);
        line_carry(&said, 0, &carried);
        if (is_first && i > 0) {
            stt->ops->close(stt);
            stt = speech_rig_listen(&rig, vocabulary, &heard);
        }
        speech_rig_hear_16k(&rig, stt, (const int16_t *)(void *)carried.heard.data,
                            carried.heard.len / sizeof(int16_t), &heard);
        CHECK(heard.partials > 2 && heard.flushed_us >= 0);
        unsigned wrong = word_errors(sentences[i], heard.text);
        errors += wrong;
        faults += wrong > 0;
        marked += wrong > 0 && *heard.unsure;
        words += words_of(sentences[i]);
        carried_clear(&carried);
        said_clear(&said);
    }
    printf("    %u of %zu words wrong, %zu of %zu such sentences marked\n", errors, words, marked,
           faults);
    CHECK(faults < 4 || marked * 2 >= faults);
    CHECK(errors * 100 <= words * most_percent);
    stt->ops->close(stt);
    speech_rig_close(&rig);
}

TEST(voice_questions_about_a_document_are_understood)
{
    hear_all(hotel_document, hotel_questions, ARRAY_LEN(hotel_questions), 2, false, 14);
}

/* Of the half that tuned nothing. */
static const char *const held_out[] = {
#define EVERYDAY(tuned, held) held,
#include "everyday.def"
#undef EVERYDAY
};

TEST(voice_everyday_sentences_are_understood_by_any_agent)
{
    hear_all(hotel_document, held_out, ARRAY_LEN(held_out), 4, false, 20);
}

TEST(voice_first_sentences_of_calls_are_understood)
{
    hear_all(hotel_document, held_out, ARRAY_LEN(held_out), 3, true, 13);
}

/* Others talk all the time: the search is bounded and may find no way to the end. */
TEST(voice_tells_what_it_heard_among_others)
{
    static const char *const sentences[] = {"do i have to bring any documents with me",
                                            "i was charged twice for the same ticket",
                                            "what happens if i miss my appointment"};
    static const unsigned seeds[] = {4, 12, 20};
    struct speech_rig rig;
    struct heard heard;
    speech_rig_open(&rig);
    for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
        struct said said;
        struct carried carried;
        struct stt *stt = speech_rig_listen(&rig, "", &heard);
        said_by("slt", sentences[i], &said);
        said_in_noise(&said, NOISE_BABBLE, 19, seeds[i]);
        line_carry(&said, 0, &carried);
        speech_rig_hear_16k(&rig, stt, (const int16_t *)(void *)carried.heard.data,
                            carried.heard.len / sizeof(int16_t), &heard);
        if (!CHECK(*heard.text && *heard.unsure))
            fprintf(stderr, "      %s: \"%s\"\n", sentences[i], heard.text);
        carried_clear(&carried);
        said_clear(&said);
        stt->ops->close(stt);
    }
    speech_rig_close(&rig);
}

/* Whether it came in time. */
static bool speaks_ahead(struct speech_rig *rig)
{
    struct spoken spoken;
    speech_rig_speak(rig, "flite", &plain,
                     "The front desk is open from seven to eleven every day of the week.", &spoken);
    int64_t length_us = (int64_t)spoken.count * 1000000 / 48000;
    CHECK(length_us > 2500000 && length_us < 6000000);
    CHECK(spoken.first_us >= 0);
    CHECK(spoken.done_us > length_us - 1700000); /* no faster than 1.5 s ahead of play */
    mem_free(spoken.samples);
    return spoken.first_us < 1500000 && spoken.done_us < length_us;
}

TEST(voice_begins_at_once_and_keeps_little_ahead)
{
    enum { TIMES = 10 }; /* in one of them the machine lets it */
    struct speech_rig rig;
    struct spoken spoken;
    bool is_ahead = false;
    speech_rig_open(&rig);
    speech_rig_speak(&rig, "flite", &plain, "Hello.", &spoken); /* starts the worker */
    mem_free(spoken.samples);
    for (int i = 0; i < TIMES && !is_ahead; i++)
        is_ahead = speaks_ahead(&rig);
    CHECK(is_ahead);
    speech_rig_close(&rig);
}

static size_t silence_before(const struct spoken *spoken)
{
    size_t samples = 0;
    while (samples < spoken->count && spoken->samples[samples] < 500)
        samples++;
    return samples;
}

TEST(voice_does_not_wait_before_it_speaks)
{
    static const char *const lines[] = {"Hello there.", "On Saturday we are open.", "Five."};
    static const char *const engines[] = {"flite", "espeak"};
    struct speech_rig rig;
    speech_rig_open(&rig);
    for (size_t e = 0; e < ARRAY_LEN(engines); e++)
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
            struct spoken spoken;
            speech_rig_speak(&rig, engines[e], &plain, lines[i], &spoken);
            if (!CHECK(silence_before(&spoken) < 48 * 110))
                fprintf(stderr, "      %s: %zu ms\n", lines[i], silence_before(&spoken) / 48);
            mem_free(spoken.samples);
        }
    speech_rig_close(&rig);
}

TEST(voice_follows_speed_and_volume)
{
    static const char *const engines[] = {"flite", "espeak"};
    struct speech_rig rig;
    speech_rig_open(&rig);
    for (size_t i = 0; i < ARRAY_LEN(engines); i++) {
        struct spoken normal, fast, loud;
        struct tts_config config = plain;
        const char *text = "This is a sentence to measure.";
        speech_rig_speak(&rig, engines[i], &config, text, &normal);
        config.speed = 1.5;
        speech_rig_speak(&rig, engines[i], &config, text, &fast);
        config.speed = 1;
        config.volume = 0.5;
        speech_rig_speak(&rig, engines[i], &config, text, &loud);
        CHECK((double)fast.count < 0.85 * (double)normal.count);
        CHECK(fabs(level(&loud) / level(&normal) - 0.5) < 0.1);
        mem_free(normal.samples);
        mem_free(fast.samples);
        mem_free(loud.samples);
    }
    speech_rig_close(&rig);
}

TEST(voice_speaks_every_language_of_the_catalog)
{
    static const struct {
        const char *iso, *text;
    } rows[] = {
        {"en", "Good morning"}, {"hi", "नमस्ते, आप कैसे हैं"}, {"ta", "வணக்கம்"},
        {"te", "నమస్కారం"},       {"kn", "ನಮಸ್ಕಾರ"},        {"ml", "നമസ്കാരം"},
        {"mr", "नमस्कार"},       {"gu", "નમસ્તે"},          {"bn", "নমস্কার"},
        {"pa", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ"},  {"or", "ନମସ୍କାର"},        {"es", "Buenos días"},
        {"fr", "Bonjour"},      {"de", "Guten Morgen"},  {"it", "Buongiorno"},
        {"pt", "Bom dia"},      {"nl", "Goedemorgen"},   {"pl", "Dzień dobry"},
        {"ru", "Доброе утро"},  {"ja", "こんにちは"},    {"ko", "안녕하세요"},
        {"zh", "你好"},         {"ar", "صباح الخير"},    {"tr", "Günaydın"},
        {"id", "Selamat pagi"},
    };
    struct speech_rig rig;
    speech_rig_open(&rig);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tts_config config = plain;
        struct spoken spoken;
        config.language = rows[i].iso;
        speech_rig_speak(&rig, "espeak", &config, rows[i].text, &spoken);
        if (!CHECK(spoken.error == ENGINE_OK && spoken.count > 12000 && level(&spoken) > 300))
            fprintf(stderr, "      %s: %zu samples, level %.0f\n", rows[i].iso, spoken.count,
                    level(&spoken));
        mem_free(spoken.samples);
    }
    struct tts_config config = plain;
    struct spoken spoken;
    config.language = "xx";
    speech_rig_speak(&rig, "espeak", &config, "what", &spoken);
    CHECK_INT(spoken.error, ENGINE_BAD_REQUEST);
    mem_free(spoken.samples);
    config.language = "hi";
    speech_rig_speak(&rig, "flite", &config, "what", &spoken);
    CHECK_INT(spoken.error, ENGINE_BAD_REQUEST);
    mem_free(spoken.samples);
    speech_rig_close(&rig);
}

TEST(voice_takes_any_text)
{
    static const char *const texts[] = {"",        " ",         "\xFF\xFE", "<speak>&amp;</speak>",
                                        "1234567", "\"'()[]{}", "नमस्ते",     "a\tb\nc",
                                        "🙂"};
    static const char *const engines[] = {"flite", "espeak"};
    struct speech_rig rig;
    speech_rig_open(&rig);
    for (size_t e = 0; e < ARRAY_LEN(engines); e++)
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
            struct spoken spoken;
            speech_rig_speak(&rig, engines[e], &plain, texts[i], &spoken);
            CHECK_INT(spoken.error, ENGINE_OK);
            CHECK(spoken.done_us >= 0);
            mem_free(spoken.samples);
        }
    speech_rig_close(&rig);
}

/* What one piece becomes, so many times. */
static char *spaced_of(const char *piece, size_t times)
{
    AUTO_BUF text = BUF_INIT(64 * 1024);
    for (size_t i = 0; i < times; i++)
        CHECK(buf_append_str(&text, piece) == OK);
    return espeak_text(text.data);
}

TEST(voice_text_for_espeak_has_no_long_run)
{
    static const struct {
        const char *piece;
        size_t times;
        const char *begin; /* of what is said */
        size_t spaces;
    } rows[] = {
        {"x", 60, "xxxxx", 0},
        {"x", 61, "xxxxx", 1},
        {"\xE4\xB8\xAD", 121, "\xE4\xB8\xAD\xE4\xB8\xAD", 2},
        {"\x80", 2000, "\x80", 8}, /* what is no UTF-8 has its runs as well */
        {"U.S.A. ", 8, "U.S.A. U.S.A. ", 8},
        {"a.b.c.d.", 25, "a. b. c. d. a. ", 99},
        {"a.b. ", 25, "a. b. a. b. ", 50},
        {"a..b..", 26, "a.. b.. a.. ", 51},
        {".", 50, "....", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_MEM char *said = spaced_of(rows[i].piece, rows[i].times);
        size_t spaces = 0;
        for (const char *at = said; *at; at++) {
            spaces += *at == ' ';
            CHECK(*at != ' ' || rows[i].piece[0] == '\x80' ||
                  ((unsigned char)at[1] & 0xC0) != 0x80);
        }
        CHECK(strncmp(said, rows[i].begin, strlen(rows[i].begin)) == 0);
        CHECK_INT(spaces, rows[i].spaces);
    }
}

TEST(voice_says_rows_of_dotted_letters)
{
    struct speech_rig rig;
    struct spoken spoken;
    AUTO_BUF text = BUF_INIT(4096);
    for (int i = 0; i < 25; i++)
        CHECK(buf_append_str(&text, "a.b.c.d.") == OK);
    speech_rig_open(&rig);
    speech_rig_speak(&rig, "espeak", &plain, text.data, &spoken);
    CHECK_INT(spoken.error, ENGINE_OK);
    CHECK(spoken.count > 0);
    mem_free(spoken.samples);
    speech_rig_close(&rig);
}

static void on_nothing(void *arg, const struct voice_frame *frame)
{
    (void)arg;
    (void)frame;
}

static void on_ready(void *arg, unsigned events)
{
    (void)events;
    loop_stop(arg);
}

static void on_late(void *arg)
{
    loop_stop(arg);
}

TEST(voice_tells_whose_line_it_makes)
{
    static char got[256 * 1024];
    int ends[2];
    struct fault fault = {0};
    struct speaking *speaking = NULL;
    struct loop *loop = loop_new("worker");
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    struct link *link = link_open(loop, ends[0], on_nothing, NULL);
    REQUIRE(speaking_new(loop, link, 7, "flite\nen\nslt\n1\n1\nusr_one", &speaking, &fault) == OK);
    speaking_speak(speaking, 3, "One.");
    struct io *io = io_open(loop, ends[1], IO_READ, on_ready, loop);
    struct timer late;
    timer_init(&late, loop, on_late, loop);
    timer_set_after(&late, 60 * 1000 * 1000);
    loop_run(loop); /* a line is made in one turn */
    timer_stop(&late);
    ssize_t len = recv(ends[1], got, sizeof(got), 0);
    struct voice_frame frame = {0};
    size_t used = 0, at = 0, told = 0, sounds = 0;
    while (len > 0 && voice_frame_read(got + at, (size_t)len - at, &frame, &used) == OK) {
        at += used;
        sounds += frame.kind == VOICE_AUDIO;
        if (frame.kind != VOICE_SAYING)
            continue;
        CHECK_INT(frame.session, 7);
        CHECK_INT(frame.gen, 3);
        CHECK_INT(frame.len, told == 0 ? strlen("usr_one") : 0);
        CHECK(told > 0 || (sounds == 0 && memcmp(frame.body, "usr_one", frame.len) == 0));
        told++;
    }
    CHECK_INT(told, 2);
    io_close(io);
    speaking_free(speaking);
    link_close(link);
    close(ends[0]);
    close(ends[1]);
    loop_free(loop);
}

static void run_for(struct loop *loop, int64_t time_us)
{
    struct timer late;
    timer_init(&late, loop, on_late, loop);
    timer_set_after(&late, time_us);
    loop_run(loop);
    timer_stop(&late);
}

/* All that the socket holds now. */
static void take_all(int fd, struct buf *out)
{
    static char got[64 * 1024];
    for (ssize_t len; (len = recv(fd, got, sizeof(got), 0)) > 0;)
        CHECK(buf_append(out, got, (size_t)len) == OK);
}

TEST(voice_makes_no_line_before_it_has_told_whose)
{
    static char sound[VOICE_BODY_MAX_BYTES / 4];
    int ends[2];
    struct fault fault = {0};
    struct speaking *speaking = NULL;
    struct loop *loop = loop_new("worker");
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    struct link *link = link_open(loop, ends[0], on_nothing, NULL);
    REQUIRE(speaking_new(loop, link, 7, "flite\nen\nslt\n1\n1\nusr_one", &speaking, &fault) == OK);
    while (link_is_sent(link))
        link_send(link, &(struct voice_frame){VOICE_AUDIO, 1, 1, sound, sizeof(sound)});
    speaking_speak(speaking, 3, "One.");
    run_for(loop, 100000); /* nobody reads */
    speaking_cancel(speaking);
    AUTO_BUF all = BUF_INIT(64 * 1024 * 1024);
    while (!link_is_sent(link)) {
        take_all(ends[1], &all);
        run_for(loop, 1000);
    }
    take_all(ends[1], &all);
    size_t at = 0, used = 0;
    struct voice_frame frame = {0};
    for (; voice_frame_read(all.data + at, all.len - at, &frame, &used) == OK; at += used)
        CHECK_INT(frame.session, 1);
    CHECK(at == all.len && at > 0);
    speaking_free(speaking);
    link_close(link);
    close(ends[0]);
    close(ends[1]);
    loop_free(loop);
}

/* Kills the workers once one speaks. */
struct killer {
    struct speech_rig *rig;
    const struct spoken *spoken;
    struct timer timer;
};

static void on_kill(void *arg)
{
    struct killer *killer = arg;
    if (killer->spoken->count == 0) {
        timer_set_after(&killer->timer, 10000);
        return;
    }
    voice_pool_kill_workers(vendor_loop_of(killer->rig->vendor, killer->rig->loop)->voices);
}

TEST(voice_worker_that_dies_is_one_error_and_replaced)
{
    struct speech_rig rig;
    struct spoken spoken = {0};
    speech_rig_open(&rig);
    struct killer killer = {.rig = &rig, .spoken = &spoken};
    timer_init(&killer.timer, rig.loop, on_kill, &killer);
    for (int i = 0; i < 3 && spoken.error == ENGINE_OK; i++) { /* the machine may let it finish */
        timer_set_after(&killer.timer, 0);
        speech_rig_speak(
            &rig, "flite", &plain,
            "This is a rather long sentence, which will be cut in the middle of it all.", &spoken);
        mem_free(spoken.samples);
    }
    timer_stop(&killer.timer);
    CHECK_INT(spoken.error, ENGINE_TRANSIENT);
    speech_rig_speak(&rig, "flite", &plain, "Here again.", &spoken);
    CHECK_INT(spoken.error, ENGINE_OK);
    CHECK(spoken.count > 20000);
    mem_free(spoken.samples);
    speech_rig_close(&rig);
}

/* The workers of this process, as /proc shows them. */
static pid_t find_worker(void)
{
    pid_t found = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        char path[300], line[512] = "";
        snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        FILE *file = fopen(path, "r");
        char name[32] = "";
        int pid = 0, parent = 0;
        if (file && fgets(line, sizeof(line), file) &&
            sscanf(line, "%d (%31[^)]) %*c %d", &pid, name, &parent) == 3 && parent == getpid() &&
            strcmp(name, "earshot-voice") == 0)
            found = pid;
        if (file)
            fclose(file);
    }
    if (proc)
        closedir(proc);
    return found;
}

static size_t read_of(pid_t pid, const char *what, char *out, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(out, 1, size - 1, file) : 0;
    out[len] = '\0';
    if (file)
        fclose(file);
    return len;
}

static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

TEST(voice_worker_knows_no_secret_and_is_locked_in)
{
    static char text[65536];
    struct speech_rig rig;
    struct spoken spoken;
    setenv("EARSHOT_SERVICE_MASTER_KEY", "0123456789abcdef", 1);
    setenv("PGPASSWORD", "secret", 1);
    speech_rig_open(&rig);
    speech_rig_speak(&rig, "espeak", &plain, "Hello.", &spoken);
    CHECK_INT(spoken.error, ENGINE_OK);
    mem_free(spoken.samples);
    pid_t pid = find_worker();
    REQUIRE(pid > 0);
    size_t len = read_of(pid, "environ", text, sizeof(text));
    CHECK(len > 0);
    for (size_t at = 0; at < len; at += strlen(text + at) + 1)
        CHECK(strncmp(text + at, "EARSHOT", 7) != 0 && strncmp(text + at, "PG", 2) != 0);
    read_of(pid, "status", text, sizeof(text));
    CHECK(strstr(text, "NoNewPrivs:\t1") != NULL);
    CHECK(strstr(text, "Seccomp:\t2") != NULL || is_sanitized() || !sandbox_support().has_filter);
    read_of(pid, "limits", text, sizeof(text));
    const char *core = strstr(text, "Max core file size");
    CHECK(core && strtol(core + strlen("Max core file size"), NULL, 10) == 0);
    speech_rig_close(&rig);
}

TEST(voice_sessions_share_a_worker)
{
    struct speech_rig rig;
    struct heard heard[6];
    struct stt *sessions[6];
    speech_rig_open(&rig);
    for (size_t i = 0; i < ARRAY_LEN(sessions); i++)
        sessions[i] = speech_rig_listen(&rig, i % 2 ? hotel_document : "", &heard[i]);
    struct voice_pool *pool = vendor_loop_of(rig.vendor, rig.loop)->voices;
    CHECK_INT(voice_pool_workers(pool, VOICE_HEARING), 1);
    CHECK_INT(voice_pool_workers(pool, VOICE_SPEAKING), 0);
    static const int16_t silence[48000];
    speech_rig_hear(&rig, sessions[5], silence, 48000, &heard[5]);
    CHECK_TEXT(heard[5].text, "");
    CHECK(heard[5].flushed_us >= 0);
    for (size_t i = 0; i < ARRAY_LEN(sessions); i++)
        sessions[i]->ops->close(sessions[i]);
    speech_rig_close(&rig);
}
