"""One caller of either side: LiveKit's own client, which joins a room, speaks by a script and notes when it hears the agent.

    caller.py URL TOKEN VOICES SCRIPT        prints one JSON object

VOICES: a folder of WAV files (48 kHz, one channel, voice from the first to the last sample). SCRIPT: full (questions, interruptions,
hesitations) or short (questions). Times are this process's: pushed to the client's encoder, taken from its decoder."""
import array, asyncio, json, sys, time, wave

from livekit import rtc

RATE, STEP = 48000, 480
LOUD = 300                      # root of the mean square of a frame that is voice
QUIET_S, REPLY_S = 0.8, 6.0     # silence that ends an answer; no answer after
PAUSES_MS = [400, 700, 1000, 1300] * 2


def is_loud(samples):
    return sum(s * s for s in samples[::8]) > LOUD * LOUD * len(samples[::8])


class Caller:
    def __init__(self, voices):
        self.voices = {name: self.read(f"{voices}/{name}.wav") for name in ("ask", "begin", "end", "wait")}
        self.source, self.waiting, self.last_pushed, self.loud = rtc.AudioSource(RATE, 1, 50), [], 0.0, []
        self.room, self.is_subscribed = rtc.Room(), asyncio.Event()

    @staticmethod
    def read(path):
        with wave.open(path) as file:
            samples = array.array("h", file.readframes(file.getnframes()))
        return [samples[at:at + STEP] for at in range(0, len(samples) - STEP + 1, STEP)]

    async def speak_all(self):
        """Every 10 ms a frame: what waits, or silence."""
        silence, due = array.array("h", [0] * STEP), time.monotonic()
        while True:
            samples = self.waiting.pop(0) if self.waiting else silence
            if samples is not silence:
                self.last_pushed = time.monotonic()
            await self.source.capture_frame(rtc.AudioFrame(samples.tobytes(), RATE, 1, STEP))
            due += 0.01
            await asyncio.sleep(max(due - time.monotonic(), 0))

    async def hear_all(self, track):
        self.is_subscribed.set()
        async for event in rtc.AudioStream(track, sample_rate=RATE, num_channels=1):
            if is_loud(memoryview(event.frame.data).cast("B").cast("h")):
                self.loud.append(time.monotonic())

    async def join(self, url, token):
        self.room.on("track_subscribed", lambda track, *_: self.keep(self.hear_all(track))
                     if track.kind == rtc.TrackKind.KIND_AUDIO else None)
        await self.room.connect(url, token)
        track = rtc.LocalAudioTrack.create_audio_track("microphone", self.source)
        await self.room.local_participant.publish_track(
            track, rtc.TrackPublishOptions(source=rtc.TrackSource.SOURCE_MICROPHONE))
        self.keep(self.speak_all())
        await asyncio.wait_for(self.is_subscribed.wait(), 30)
        await asyncio.sleep(2)

    def keep(self, coroutine):
        self.tasks = [*getattr(self, "tasks", []), asyncio.ensure_future(coroutine)]

    async def say(self, name):
        """Returns when it began and ended."""
        began = time.monotonic()
        self.waiting = list(self.voices[name])
        while self.waiting:
            await asyncio.sleep(0.005)
        return began, self.last_pushed

    async def first_loud(self, after):
        until = time.monotonic() + REPLY_S
        while time.monotonic() < until:
            heard = next((at for at in self.loud if at > after), None)
            if heard:
                return heard
            await asyncio.sleep(0.005)
        return None

    async def quiet(self):
        until = time.monotonic() + 15
        while self.loud and time.monotonic() < min(self.loud[-1] + QUIET_S, until):
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)

    async def ask(self):
        _, ended = await self.say("ask")
        heard = await self.first_loud(ended)
        return heard and (heard - ended) * 1000

    async def interrupt(self):
        """How long the agent is still heard, from the caller's first sound."""
        if not await self.ask():
            return None
        await asyncio.sleep(0.7)
        began, ended = await self.say("wait")
        mine = [at for at in self.loud if began < at < ended]
        await self.first_loud(ended)
        await self.quiet()
        return (max(mine) - began) * 1000 if mine else None

    async def hesitate(self, pause_ms):
        _, paused = await self.say("begin")
        await asyncio.sleep(pause_ms / 1000)
        _, ended = await self.say("end")
        is_cut = any(paused < at < ended for at in self.loud)
        heard = await self.first_loud(ended)
        await self.quiet()
        return {"pauseMs": pause_ms, "isCut": is_cut, "replyMs": heard and (heard - ended) * 1000}

    async def run(self, script):
        out = {"replyMs": [], "bargeMs": [], "hesitations": []}
        for _ in range(8 if script == "full" else 3):
            out["replyMs"].append(await self.ask())
            await self.quiet()
        for _ in range(6 if script == "full" else 0):
            out["bargeMs"].append(await self.interrupt())
        for pause_ms in PAUSES_MS if script == "full" else []:
            out["hesitations"].append(await self.hesitate(pause_ms))
        return out


async def main():
    url, token, voices, script = sys.argv[1:]
    caller = Caller(voices)
    await caller.join(url, token)
    print("joined", file=sys.stderr, flush=True)
    out = await caller.run(script)
    print(json.dumps(out), flush=True)
    await caller.room.disconnect()


asyncio.run(main())
