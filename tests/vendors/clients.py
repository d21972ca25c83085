"""Each vendor's own client library completes a normal exchange with our stand-in: so the stand-ins speak the vendors' wires, not ours.
clients.py EXCHANGE BASE WYOMING: BASE is the stand-ins' "127.0.0.1:PORT/ok", WYOMING a port. Ends with status 0 and one line when all was as it is to be."""
import json, math, struct, sys

KEY, HEARD, ANSWER = "stand-in-key", "What are your opening hours?", "We are open from nine to five every day."
exchange, base, wyoming_port = sys.argv[1], sys.argv[2], int(sys.argv[3])


def tone(seconds=1.0, rate=16000):
    return b"".join(struct.pack("<h", int(8000 * math.sin(2 * math.pi * 300 * i / rate))) for i in range(int(seconds * rate)))


def pieces(data, size=640):
    return [data[i:i + size] for i in range(0, len(data), size)]


def wav(samples, rate=16000):
    return b"RIFF" + struct.pack("<I", 36 + len(samples)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) + b"data" + struct.pack("<I", len(samples)) + samples


def openai_client(key=KEY):
    from openai import OpenAI
    return OpenAI(api_key=key, base_url=f"http://{base}/openai/v1", max_retries=0)


def openai_chat():
    stream = openai_client().chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello"}], stream=True,
                                                     stream_options={"include_usage": True})
    text, usage = "", None
    for chunk in stream:
        usage = chunk.usage or usage
        text += chunk.choices[0].delta.content or "" if chunk.choices else ""
    assert text == ANSWER and usage.total_tokens == 32, (text, usage)


def openai_tools():
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}]
    stream = openai_client().chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello"}], tools=tools, stream=True)
    name, arguments, finish = "", "", None
    for chunk in stream:
        finish = chunk.choices[0].finish_reason or finish
        for call in chunk.choices[0].delta.tool_calls or []:
            name += call.function.name or ""
            arguments += call.function.arguments or ""
    assert (name, json.loads(arguments), finish) == ("look_up", {"day": "Monday"}, "tool_calls")


def openai_speech():
    with openai_client().audio.speech.with_streaming_response.create(model="m", voice="alloy", input="Hello there.", response_format="wav") as answer:
        sound = b"".join(answer.iter_bytes())
    assert sound[:4] == b"RIFF" and len(sound) > 20000
    with openai_client().audio.speech.with_streaming_response.create(model="m", voice="alloy", input="Hello there.", response_format="opus") as answer:
        sound = b"".join(answer.iter_bytes())
    assert sound[:4] == b"OggS" and len(sound) > 2000


def openai_transcription():
    answer = openai_client().audio.transcriptions.create(model="m", file=("speech.wav", wav(tone())), language="en")
    assert answer.text == HEARD


def openai_realtime():
    import base64
    from openai import OpenAI
    client = OpenAI(api_key=KEY, base_url=f"http://{base}/openai/v1", websocket_base_url=f"ws://{base}/openai/v1")
    session = {"type": "transcription", "audio": {"input": {"format": {"type": "audio/pcm", "rate": 24000}, "transcription": {"model": "gpt-live-transcribe"},
                                                           "turn_detection": None}}}
    with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        connection.session.update(session=session)
        connection.input_audio_buffer.append(audio=base64.b64encode(tone(rate=24000)).decode())
        connection.input_audio_buffer.commit()
        text = ""
        for event in connection:
            assert event.type != "error", event
            text += event.delta if event.type.endswith("input_audio_transcription.delta") else ""
            if event.type.endswith("input_audio_transcription.completed"):
                assert event.transcript == text == HEARD, event
                break


def openai_embeddings():
    answer = openai_client().embeddings.create(model="m", input=["one", "three"])
    by_index = sorted(answer.data, key=lambda item: item.index)
    assert len(by_index) == 2 and abs(by_index[1].embedding[0] - math.sin(5)) < 1e-6


def anthropic_messages():
    from anthropic import Anthropic
    client = Anthropic(api_key=KEY, base_url=f"http://{base}/anthropic", max_retries=0)
    with client.messages.stream(model="m", max_tokens=100, messages=[{"role": "user", "content": "Hello"}]) as stream:
        text = "".join(stream.text_stream)
        assert text == ANSWER and stream.get_final_message().stop_reason == "end_turn", text
    tools = [{"name": "look_up", "input_schema": {"type": "object", "properties": {}}}]
    with client.messages.stream(model="m", max_tokens=100, messages=[{"role": "user", "content": "Hello"}], tools=tools) as stream:
        block = stream.get_final_message().content[-1]
        assert (block.type, block.name, block.input) == ("tool_use", "look_up", {"day": "Monday"}), block


def deepgram_client():
    from deepgram import DeepgramClient
    from deepgram.environment import DeepgramClientEnvironment
    here = DeepgramClientEnvironment(base=f"http://{base}/deepgram", production=f"ws://{base}/deepgram", agent="ws://none", agent_rest="http://none")
    return DeepgramClient(api_key=KEY, environment=here)


def deepgram_listen():
    with deepgram_client().listen.v1.connect(model="nova-3", encoding="linear16", sample_rate=16000, interim_results=True, language="en") as socket:
        for piece in pieces(tone()):
            socket.send_media(piece)
        socket.send_finalize()
        interim = 0
        for message in socket:
            if message.type == "Results" and message.is_final:
                assert message.channel.alternatives[0].transcript == HEARD and message.from_finalize
                break
            interim += message.type == "Results"
        assert interim > 0
        socket.send_close_stream()


def deepgram_flux():
    with deepgram_client().listen.v2.connect(model="flux-general-en", encoding="linear16", sample_rate=16000) as socket:
        assert socket.recv().type == "Connected"
        for piece in pieces(tone()):
            socket.send_media(piece)
        socket.send_force_end_turn()
        for message in socket:
            if message.type == "TurnInfo" and message.event == "EndOfTurn":
                assert message.transcript == HEARD
                break
        socket.send_close_stream()


def soniox_transcribe():
    from soniox import SonioxClient
    from soniox.types import RealtimeSTTConfig
    client = SonioxClient(api_key=KEY, websocket_base_url=f"ws://{base}/soniox/transcribe-websocket")
    config = RealtimeSTTConfig(model="stt-rt-v5", audio_format="pcm_s16le", sample_rate=16000, num_channels=1, language_hints=["en"])
    with client.realtime.stt.connect(config=config) as session:
        for piece in pieces(tone()):
            session.send_byte_chunk(piece)
        session.finalize()
        text, is_finalized = "", False
        for event in session.receive_events():
            for token in event.tokens:
                is_finalized = is_finalized or token.text == "<fin>"
                text += token.text if token.is_final and token.text != "<fin>" else ""
            if is_finalized:
                break
        assert text == HEARD, text
        session.finish()
        assert any(event.finished for event in session.receive_events())


def cartesia_speech():
    from cartesia import Cartesia
    client = Cartesia(api_key=KEY, base_url=f"http://{base}/cartesia", websocket_base_url=f"ws://{base}/cartesia")
    with client.tts.websocket_connect() as connection:
        context = connection.context(model_id="sonic-latest", voice={"mode": "id", "id": "v"}, language="en",
                                     output_format={"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000})
        context.push("Hello there. ")
        context.push("How are you?")
        context.no_more_inputs()
        sound = b"".join(response.audio for response in context.receive() if response.type == "chunk" and response.audio)
    assert len(sound) > 24000, len(sound)


def elevenlabs_speech():
    from elevenlabs.client import ElevenLabs
    client = ElevenLabs(api_key=KEY, base_url=f"http://{base}/elevenlabs")
    client.text_to_speech._ws_base_url = f"ws://{base}/elevenlabs"  # the library insists on TLS
    sound = b"".join(client.text_to_speech.convert_realtime("voice", text=iter(["Hello there. ", "How are you? "]), model_id="eleven_flash_v2_5",
                                                            output_format="pcm_24000"))
    assert len(sound) > 24000, len(sound)
    sound = b"".join(client.text_to_speech.convert_realtime("voice", text=iter(["Hello there. ", "How are you? "]), model_id="eleven_flash_v2_5",
                                                            output_format="opus_48000_32"))
    assert sound[:4] == b"OggS" and len(sound) > 2000, len(sound)


def wyoming_events(sent, last):
    """What the library's own client is answered, up to the event of this type."""
    import asyncio
    from wyoming.client import AsyncTcpClient

    async def exchange_all():
        come = []
        async with AsyncTcpClient("127.0.0.1", wyoming_port) as client:
            for one in sent:
                await client.write_event(one.event())
            while not come or come[-1].type != last:
                come.append(await client.read_event())
        return come
    return asyncio.run(exchange_all())


def wyoming_transcription():
    from wyoming.asr import Transcribe, Transcript
    from wyoming.audio import AudioChunk, AudioStart, AudioStop
    from wyoming.info import Describe, Info
    info = Info.from_event(wyoming_events([Describe()], "info")[-1])
    assert info.asr[0].models[0].name == "heard" and info.tts[0].voices[0].name == "hum", info
    chunks = [AudioChunk(rate=16000, width=2, channels=1, audio=piece) for piece in pieces(tone())]
    come = wyoming_events([Transcribe(language="en"), AudioStart(rate=16000, width=2, channels=1), *chunks, AudioStop()], "transcript")
    assert Transcript.from_event(come[-1]).text == HEARD, come


def wyoming_speech():
    from wyoming.audio import AudioChunk
    from wyoming.tts import Synthesize
    come = wyoming_events([Synthesize(text="Hello there.")], "audio-stop")
    chunks = [AudioChunk.from_event(event) for event in come if AudioChunk.is_type(event.type)]
    assert come[0].type == "audio-start" and {chunk.rate for chunk in chunks} == {22050}, come[0]
    assert sum(len(chunk.audio) for chunk in chunks) > 24000


EXCHANGES = [openai_chat, openai_tools, openai_speech, openai_transcription, openai_realtime, openai_embeddings, anthropic_messages, deepgram_listen, deepgram_flux,
             soniox_transcribe, cartesia_speech, elevenlabs_speech, wyoming_transcription, wyoming_speech]
if __name__ == "__main__":
    {one.__name__: one for one in EXCHANGES}[exchange]()
    print(f"{exchange}: as its library expects")
