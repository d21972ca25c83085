"""A recogniser and a voice on the `wyoming` package's own server classes: the other side of our wyoming-stt and wyoming-tts.
wyoming_server.py: prints its port. FAULT in the environment: silent, cut, garbage, slow, twice, stall."""
import asyncio, math, os, struct, sys
from wyoming.asr import Transcribe, Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event
from wyoming.server import AsyncEventHandler, AsyncTcpServer
from wyoming.tts import Synthesize

HEARD, RATE, FAULT = "What are your opening hours?", 22050, os.environ.get("FAULT", "")


def hum(text):
    return b"".join(struct.pack("<h", int(8000 * math.sin(2 * math.pi * 220 * i / RATE))) for i in range(int(len(text) / 16 * RATE)))


class Speech(AsyncEventHandler):
    def __init__(self, *args):
        super().__init__(*args)
        self.is_loud, self.format = False, None

    async def transcribe(self):
        text = HEARD if self.is_loud else ""
        await self.write_event(TranscriptStart().event())
        for word in text.split(" "):
            await self.write_event(TranscriptChunk(text=word + " ").event())
        await self.write_event(TranscriptStop().event())
        for _ in range(2 if FAULT == "twice" else 1):
            await self.write_event(Transcript(text=text).event())
        return False  # as faster-whisper's server does: a connection an utterance

    async def synthesize(self, wish):
        if not wish.text:
            await self.write_event(Error(text="no text", code="empty").event())
            return True
        sound = hum(wish.text)
        await self.write_event(AudioStart(rate=RATE, width=2, channels=1).event())
        for i in range(0, len(sound), 2048):
            if FAULT == "cut" and i > 8192:
                return False
            if FAULT == "stall" and i > 8192:
                return True
            await self.write_event(AudioChunk(rate=RATE, width=2, channels=1, audio=sound[i:i + 2048]).event())
        await self.write_event(AudioStop().event())
        return True

    async def handle_event(self, event: Event) -> bool:
        if FAULT == "silent":
            return True
        if FAULT == "slow" and (AudioStop.is_type(event.type) or Synthesize.is_type(event.type)):
            await asyncio.sleep(1.5)
        if FAULT == "garbage":
            self.writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return True
        if Transcribe.is_type(event.type):
            self.is_loud = False
        elif AudioChunk.is_type(event.type):
            chunk = AudioChunk.from_event(event)
            assert (chunk.rate, chunk.width, chunk.channels) == (16000, 2, 1)
            self.is_loud = self.is_loud or max(abs(s) for (s,) in struct.iter_unpack("<h", chunk.audio)) > 300
        elif AudioStop.is_type(event.type):
            if FAULT == "stall":
                return True
            return False if FAULT == "cut" else await self.transcribe()
        elif Synthesize.is_type(event.type):
            return await self.synthesize(Synthesize.from_event(event))
        return True


async def main():
    server = AsyncTcpServer("127.0.0.1", 0)
    await server.start(Speech)
    print(server._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
