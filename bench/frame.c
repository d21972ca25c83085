/* What each stage of the media path costs for one 20 ms frame: CPU microseconds of this thread, the
 * median of five rounds with the spread, over so many calls in turn that their states do not stay
 * in the caches. Arguments: a WAV file of speech, and the number of calls (100). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audio/codec.h"
#include "audio/inlet.h"
#include "audio/vad.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "net/udp.h"
#include "rtc/rtp_media.h"
#include "speech.h"
#include "unit/audio/ogg_file.h"
#include "vendor/relay.h"

enum {
    FRAMES = 50, /* a call, a round */
    ROUNDS = 5,
    PAGE = 10, /* packets of a voice's page */
    FILE_BYTES = 64 * 1024,
    PACKET_BYTES = 512
};

struct packet {
    uint8_t data[PACKET_BYTES];
    size_t len;
};

/* One call's states of every stage. */
struct call {
    struct rtp_media near, far;
    struct codec_encoder *voip, *celt;
    struct codec_decoder *decoder, *full;
    struct relay *relay;
    struct buf file; /* of its packets, in Ogg */
    struct inlet *inlet;
    struct vad *vad;
    struct packet plain[FRAMES], sealed[FRAMES];
    int16_t decoded[CODEC_DECODED_MAX_SAMPLES];
    unsigned sequence;
};

struct bench {
    struct call **calls;
    unsigned call_count;
    struct speech speech;
    int64_t now_us;
    struct loop *loop;
    struct udp *sender, *receiver;
    unsigned received;
};

static const int16_t *frame_of(const struct bench *bench, unsigned call, unsigned frame)
{
    /* Each call is elsewhere in the recording. */
    size_t at = (call * 37u + frame) % bench->speech.frames;
    return bench->speech.samples + at * AUDIO_OUT_SAMPLES;
}

/* The stages: one frame of one call. */

static void run_encode_voip(struct bench *bench, unsigned c, unsigned f)
{
    struct packet *packet = &bench->calls[c]->plain[f];
    packet->len = codec_encode(bench->calls[c]->voip, frame_of(bench, c, f), packet->data);
}

static void run_encode_celt(struct bench *bench, unsigned c, unsigned f)
{
    uint8_t out[CODEC_PACKET_MAX_BYTES];
    codec_encode(bench->calls[c]->celt, frame_of(bench, c, f), out);
}

static void run_seal(struct bench *bench, unsigned c, unsigned f)
{
    struct call *call = bench->calls[c];
    struct peer_opus opus = {.payload = call->plain[f].data,
                             .len = call->plain[f].len,
                             .timestamp = f * 960,
                             .payload_type = 111};
    const uint8_t *data;
    rtp_media_send(&call->near, &opus, bench->now_us);
    if (rtp_media_output(&call->near, &data, &call->sealed[f].len, 0))
        memcpy(call->sealed[f].data, data, call->sealed[f].len);
}

static void run_open(struct bench *bench, unsigned c, unsigned f)
{
    struct call *call = bench->calls[c];
    struct peer_audio audio;
    if (!rtp_media_input_rtp(&call->far, call->sealed[f].data, call->sealed[f].len, bench->now_us,
                             &audio))
        abort();
}

static void run_decode(struct bench *bench, unsigned c, unsigned f)
{
    struct call *call = bench->calls[c];
    codec_decode(call->decoder, call->plain[f].data, call->plain[f].len, call->decoded);
}

static void run_decode_full(struct bench *bench, unsigned c, unsigned f)
{
    struct call *call = bench->calls[c];
    int16_t out[CODEC_FULL_MAX_SAMPLES];
    codec_decode_full(call->full, call->plain[f].data, call->plain[f].len, out);
}

/* A packet waits in memory of its own, as the calls keep it. */
static void on_relayed(void *arg, const uint8_t *packet, size_t bytes)
{
    struct call *call = arg;
    AUTO_MEM uint8_t *kept = mem_new_n(uint8_t, bytes);
    memcpy(kept, packet, bytes);
    call->decoded[0] = kept[bytes - 1];
}

static void on_unrelayed(void *arg, const int16_t *samples, size_t count)
{
    (void)arg, (void)samples, (void)count;
    abort();
}

static void write_file(struct call *call)
{
    struct ogg_file file = {.out = &call->file, .packets_a_page = PAGE};
    buf_reset(&call->file);
    for (unsigned f = 0; f < FRAMES; f++)
        ogg_file_packet(&file, call->plain[f].data, call->plain[f].len);
    ogg_file_end(&file);
}

/* The bytes of a file come by the page. */
static void run_relay(struct bench *bench, unsigned c, unsigned f)
{
    struct call *call = bench->calls[c];
    size_t from = call->file.len * (f / PAGE) / (FRAMES / PAGE);
    size_t to = call->file.len * (f / PAGE + 1) / (FRAMES / PAGE);
    if (f % PAGE == 0 && !relay_push(call->relay, call->file.data + from, to - from))
        abort();
}

static void run_inlet(struct bench *bench, unsigned c, unsigned f)
{
    struct call *call = bench->calls[c];
    struct audio_frame frame;
    unsigned number = call->sequence++;
    int64_t now_us = (int64_t)number * AUDIO_FRAME_US;
    inlet_input(call->inlet, call->plain[f].data, call->plain[f].len, (uint16_t)number,
                number * 960, now_us);
    while (inlet_output(call->inlet, now_us, &frame))
        memcpy(call->decoded, frame.samples, sizeof(frame.samples));
}

static void run_vad(struct bench *bench, unsigned c, unsigned f)
{
    struct audio_frame frame = {.source = AUDIO_HEARD};
    const int16_t *speech = frame_of(bench, c, f);
    for (unsigned i = 0; i < AUDIO_IN_SAMPLES; i++)
        frame.samples[i] = speech[i * 3];
    struct vad_result result;
    vad_input(bench->calls[c]->vad, &frame, &result);
}

static void on_packets(void *arg, const struct udp_packet *packets, size_t count, int64_t now_us)
{
    struct bench *bench = arg;
    (void)packets, (void)now_us;
    bench->received += (unsigned)count;
    if (bench->received >= bench->call_count)
        loop_stop(bench->loop);
}

static void run_send(struct bench *bench, unsigned c, unsigned f)
{
    struct net_addr to = udp_address(bench->receiver);
    struct packet *packet = &bench->calls[c]->plain[f];
    if (udp_send(bench->sender, NULL, &to, packet->data, packet->len + 28) != OK)
        abort();
    if (c + 1 == bench->call_count)
        udp_flush(bench->sender);
}

static void receive_all(struct bench *bench)
{
    bench->received = 0;
    loop_run(bench->loop);
}

/* Measuring. */

struct stage {
    const char *name;
    void (*run)(struct bench *, unsigned call, unsigned frame);
    bool is_received; /* what it sends is received before the next frame, outside its time */
};

static const struct stage stages[] = {
    {"encode, VOIP 48 kHz complexity 5", run_encode_voip, false},
    {"encode, CELT 48 kHz", run_encode_celt, false},
    {"decode to 48 kHz", run_decode_full, false},
    {"relay: Ogg, checksum, packet", run_relay, false},
    {"send: header, seal, history", run_seal, false},
    {"receive: open, header, statistics", run_open, false},
    {"decode to 16 kHz", run_decode, false},
    {"jitter buffer and decode", run_inlet, false},
    {"voice activity", run_vad, false},
    {"UDP send, batched (kernel included)", run_send, true},
};

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double run_round(struct bench *bench, const struct stage *stage)
{
    int64_t used_us = 0;
    for (unsigned c = 0; stage->run == run_relay && c < bench->call_count; c++)
        write_file(bench->calls[c]);
    for (unsigned f = 0; f < FRAMES; f++) {
        int64_t began_us = clock_cpu_us();
        for (unsigned c = 0; c < bench->call_count; c++)
            stage->run(bench, c, f);
        used_us += clock_cpu_us() - began_us;
        if (stage->is_received)
            receive_all(bench);
        bench->now_us += AUDIO_FRAME_US;
    }
    return (double)used_us / (FRAMES * bench->call_count);
}

static void measure(struct bench *bench)
{
    double rounds[ROUNDS][sizeof(stages) / sizeof(*stages)];
    for (unsigned r = 0; r < ROUNDS; r++)
        for (size_t s = 0; s < sizeof(stages) / sizeof(*stages); s++)
            rounds[r][s] = run_round(bench, &stages[s]);
    printf("%-38s %8s   %s\n", "stage", "us/frame", "least - most");
    for (size_t s = 0; s < sizeof(stages) / sizeof(*stages); s++) {
        double sorted[ROUNDS];
        for (unsigned r = 0; r < ROUNDS; r++)
            sorted[r] = rounds[r][s];
        qsort(sorted, ROUNDS, sizeof(*sorted), compare);
        printf("%-38s %8.2f   %.2f - %.2f\n", stages[s].name, sorted[ROUNDS / 2], sorted[0],
               sorted[ROUNDS - 1]);
    }
}

/* Set-up. */

static struct call *open_call(void)
{
    struct call *call = mem_new(struct call);
    struct dtls_keys keys = {.profile = DTLS_AEAD_AES_128_GCM, .local = {1}, .remote = {2}};
    struct dtls_keys mirrored = {.profile = DTLS_AEAD_AES_128_GCM, .local = {2}, .remote = {1}};
    rtp_media_init(&call->near);
    rtp_media_init(&call->far);
    if (rtp_media_start(&call->near, &keys, 0) || rtp_media_start(&call->far, &mirrored, 0))
        abort();
    call->voip = codec_encoder_new(CODEC_VOIP);
    call->celt = codec_encoder_new(CODEC_CELT);
    static const struct relay_fns fns = {on_relayed, on_unrelayed};
    call->decoder = codec_decoder_new();
    call->full = codec_decoder_new_full(0);
    call->relay = relay_new(&fns, call);
    buf_init(&call->file, FILE_BYTES);
    call->inlet = inlet_new();
    call->vad = vad_new(&vad_defaults);
    return call;
}

static void close_call(struct call *call)
{
    rtp_media_clear(&call->near);
    rtp_media_clear(&call->far);
    codec_encoder_free(call->voip);
    codec_encoder_free(call->celt);
    codec_decoder_free(call->decoder);
    codec_decoder_free(call->full);
    relay_free(call->relay);
    buf_clear(&call->file);
    inlet_free(call->inlet);
    vad_free(call->vad);
    mem_free(call);
}

static enum err open_sockets(struct bench *bench, struct fault *fault)
{
    struct net_addr any = net_addr_ipv4(127, 0, 0, 1, 0);
    enum err err = udp_open(bench->loop, &any, on_packets, bench, &bench->receiver, fault);
    return err ? err : udp_open(bench->loop, &any, on_packets, bench, &bench->sender, fault);
}

int main(int argc, char **argv)
{
    AUTO(loop) loop = loop_new("bench");
    struct bench bench = {.call_count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100,
                          .now_us = 1000000,
                          .loop = loop};
    struct fault fault = {0};
    if (argc < 2 || !bench.call_count || speech_read(argv[1], &bench.speech, &fault) ||
        open_sockets(&bench, &fault)) {
        fprintf(stderr, "usage: frame speech.wav [calls]  %s\n", fault.text);
        return 2;
    }
    bench.calls = mem_new_n(struct call *, bench.call_count);
    for (unsigned i = 0; i < bench.call_count; i++)
        bench.calls[i] = open_call();
    measure(&bench);
    for (unsigned i = 0; i < bench.call_count; i++)
        close_call(bench.calls[i]);
    mem_free(bench.calls);
    speech_clear(&bench.speech);
    udp_close(bench.sender);
    udp_close(bench.receiver);
    return 0;
}
