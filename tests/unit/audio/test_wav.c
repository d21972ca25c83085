#include "audio/wav.h"

#include "test.h"

enum { MOST = 1000 };

static void check_refused(struct buf *file, enum err want)
{
    struct wav wav = {0};
    struct fault fault = {0};
    CHECK_INT(wav_parse(file->data, file->len, MOST, &wav, &fault), want);
    CHECK(fault.text[0] != '\0');
    CHECK(wav.samples == NULL);
}

static struct buf file_of(size_t count)
{
    struct buf file = BUF_INIT(8192);
    int16_t samples[MOST + 1];
    for (size_t i = 0; i < count; i++)
        samples[i] = (int16_t)(i * 31 - 5000);
    CHECK_INT(wav_write(&file, 16000, samples, count), OK);
    return file;
}

TEST(wav_reads_what_it_wrote)
{
    struct buf file = file_of(300);
    struct wav wav;
    REQUIRE(wav_parse(file.data, file.len, MOST, &wav, NULL) == OK);
    CHECK_INT(wav.rate_hz, 16000);
    CHECK_INT(wav.count, 300);
    CHECK_INT(wav.samples[299], 299 * 31 - 5000);
    wav_clear(&wav);
    CHECK_INT(file.len, 44 + 600);
    buf_clear(&file);
}

TEST(wav_takes_the_sizes_of_a_stream)
{
    static const uint8_t sizes[][4] = {{0, 0, 0, 0}, {255, 255, 255, 255}};
    for (size_t i = 0; i < 2; i++) {
        struct buf file = file_of(20);
        struct wav wav = {0};
        memcpy(file.data + 40, sizes[i], 4);
        CHECK_INT(wav_parse(file.data, file.len, MOST, &wav, NULL), OK);
        CHECK_INT(wav.count, 20);
        wav_clear(&wav);
        buf_clear(&file);
    }
}

TEST(wav_mixes_two_channels)
{
    struct buf file = file_of(20);
    file.data[22] = 2;
    struct wav wav = {0};
    REQUIRE(wav_parse(file.data, file.len, MOST, &wav, NULL) == OK);
    CHECK_INT(wav.count, 10);
    CHECK_INT(wav.samples[1], (2 * 31 + 3 * 31 - 10000) / 2);
    wav_clear(&wav);
    buf_clear(&file);
}

TEST(wav_refuses_what_it_cannot_read)
{
    static const struct {
        size_t at;
        uint8_t value;
        enum err want;
    } rows[] = {
        {0, 'X', ERR_INVALID},    {8, 'X', ERR_INVALID},    {12, 'X', ERR_INVALID},
        {20, 3, ERR_UNSUPPORTED}, {22, 0, ERR_UNSUPPORTED}, {22, 3, ERR_UNSUPPORTED},
        {25, 1, ERR_UNSUPPORTED}, {27, 1, ERR_UNSUPPORTED}, {34, 8, ERR_UNSUPPORTED},
        {16, 15, ERR_INVALID},    {36, 'X', ERR_INVALID},   {42, 9, ERR_INVALID},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf file = file_of(20);
        file.data[rows[i].at] = (char)rows[i].value;
        check_refused(&file, rows[i].want);
        buf_clear(&file);
    }
    struct buf file = file_of(MOST + 1);
    check_refused(&file, ERR_LIMIT);
    for (file.len = 43; file.len > 0; file.len--)
        check_refused(&file, ERR_INVALID);
    buf_clear(&file);
}
