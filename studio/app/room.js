/* A test call's room: joins with livekit-client (loaded at the first call) and tells the page what it hears. */

/* A page may connect to the nodes that were known when it was loaded. One that has begun since is met by loading the page again, which then goes
 * on with the call: once, so that what fails for another reason is told. */
export function watchPolicy() {
  const seen = { hasRefused: false, end: () => document.removeEventListener('securitypolicyviolation', note) };
  const note = (event) => { seen.hasRefused ||= event.effectiveDirective === 'connect-src'; };
  document.addEventListener('securitypolicyviolation', note);
  return seen;
}
export function callAnew(agentId) {
  history.replaceState({ callAnew: agentId }, '');
  location.reload();
}
export const isToCallAnew = (agentId) => history.state?.callAnew === agentId;
/* Is this the second try? From now on it is not. */
export function takeAnew(agentId) {
  const is = isToCallAnew(agentId);
  if (is) history.replaceState(null, '');
  return is;
}

const AGENT_STATES = ['initializing', 'idle', 'listening', 'thinking', 'speaking'];
export class TestRoom {
  #room = null;
  #tell;
  #audio = [];
  #meter = null;
  #isIn = false;

  /* tell({ state, captions, level, isMuted, isDeaf, ended, isLost }) with what has changed. */
  constructor(tell) { this.#tell = tell; }

  async join({ livekitUrl, token }, microphone, livekit) {
    const room = new livekit.Room();
    this.#room = room;
    const captions = new Map();
    room.registerTextStreamHandler('lk.transcription', (reader, who) => this.#caption(captions, reader, who.identity === room.localParticipant.identity));
    room.on(livekit.RoomEvent.TrackSubscribed, (track) => { if (track.kind === 'audio') this.#audio.push(document.body.appendChild(track.attach())); });
    for (const event of ['ParticipantConnected', 'ParticipantAttributesChanged', 'Reconnected']) room.on(livekit.RoomEvent[event], () => this.#look());
    for (const event of ['SignalReconnecting', 'Reconnecting']) room.on(livekit.RoomEvent[event], () => this.#tell({ state: 'lost' }));
    for (const event of ['TrackMuted', 'TrackUnmuted']) room.on(livekit.RoomEvent[event], (publication, who) => { if (who === room.localParticipant) this.#heard(publication); });
    room.on(livekit.RoomEvent.Disconnected, (why) => { if (this.#room === room && this.#isIn) this.leave(!['CLIENT_INITIATED', 'ROOM_DELETED', 'ROOM_CLOSED'].includes(livekit.DisconnectReason[why])); });
    // It may be over before its person is through with joining: then no step is waited for any more.
    const over = new Promise((_, fail) => { room.once(livekit.RoomEvent.Disconnected, () => fail(new Error('over'))); });
    over.catch(() => {});
    for (const step of [() => room.connect(livekitUrl, token), () => room.localParticipant.publishTrack(microphone, { source: livekit.Track.Source.Microphone }), () => room.startAudio()]) await Promise.race([over, step()]);
    this.#isIn = true;
    this.#measure(microphone);
    this.#look();
  }

  #look() {
    const agent = this.#room && [...this.#room.remoteParticipants.values()].find((one) => one.isAgent);
    const state = agent?.attributes['lk.agent.state'] ?? 'initializing';
    this.#tell({ state: AGENT_STATES.includes(state) ? state : 'idle' });
  }

  /* The agent's grow by deltas in one stream; the caller's come as whole versions under one segment id. */
  async #caption(captions, reader, isUser) {
    const attributes = reader.info.attributes ?? {};
    const id = attributes['lk.segment_id'] ?? reader.info.id;
    let said = '';
    const put = (isInterim) => {
      if (said.trim()) captions.set(id, { id, role: isUser ? 'user' : 'assistant', text: said, isInterim });
      else captions.delete(id);
      this.#tell({ captions: [...captions.values()] });
    };
    try {
      for await (const part of reader) { said = isUser ? part : said + part; put(true); }
    } catch { /* the call ended within the sentence: what came stays */ }
    const isInterim = isUser && attributes['lk.transcription_final'] !== 'true';
    put(isInterim);
  }

  #measure(microphone) {
    const context = new AudioContext();
    const analyser = new AnalyserNode(context, { fftSize: 512 });
    const hear = () => { if (context.state !== 'closed') context.createMediaStreamSource(new MediaStream([microphone.mediaStreamTrack])).connect(analyser); };
    hear();
    microphone.on('restarted', hear); // another device
    const samples = new Float32Array(analyser.fftSize);
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, x) => sum + x * x, 0) / samples.length;
      this.#tell({ level: Math.max(0, Math.min(1, (10 * Math.log10(power + 1e-10) + 60) / 50)) });
    }, 100);
    this.#meter = () => { clearInterval(timer); context.close(); };
  }

  async mute() {
    const me = this.#room?.localParticipant;
    await me?.setMicrophoneEnabled(!me.isMicrophoneEnabled);
  }

  /* A microphone that is taken away mutes itself. */
  #heard({ isMuted, track }) { this.#tell({ isMuted, isDeaf: isMuted && track.mediaStreamTrack.readyState === 'ended' }); }

  /* isLost: by nobody's wish. */
  async leave(isLost = false) {
    const room = this.#room;
    this.#room = null;
    this.#meter?.();
    this.#meter = null;
    this.#audio.splice(0).forEach((element) => element.remove());
    room?.localParticipant.trackPublications.forEach((publication) => publication.track?.stop());
    await room?.disconnect();
    if (room) this.#tell({ ended: true, isLost });
  }
}
