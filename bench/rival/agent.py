"""The rival's agent: LiveKit Agents as its documentation begins, over the stand-in engines (ENGINES); its turn handling is what it
chooses by itself, or TURNS (vad: its fixed 500 ms behind the voice)."""
import os

from livekit.agents import Agent, AgentSession, JobContext, WorkerOptions, cli
from livekit.plugins import openai, silero

TURNS = {"turn_handling": {"turn_detection": os.environ["TURNS"]}} if os.environ.get("TURNS") else {}
WIRE = {"base_url": os.environ["ENGINES"], "api_key": "stand-in"}


async def entrypoint(context: JobContext):
    session = AgentSession(
        stt=openai.STT(model="whisper-1", **WIRE),
        llm=openai.LLM(model="stand-in", **WIRE),
        tts=openai.TTS(model="tts-1", voice="alloy", response_format="pcm", **WIRE),
        vad=silero.VAD.load(),
        **TURNS,
    )
    await session.start(agent=Agent(instructions="Answer."), room=context.room)


if __name__ == "__main__":
    # Worker and server refuse calls while the machine's load is over 0.7, whoever makes that load: here other programs do.
    cli.run_app(WorkerOptions(entrypoint_fnc=entrypoint, load_fnc=lambda *_: 0.0))
