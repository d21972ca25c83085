/* The page on which a person talks with an agent. The link carries the agent's publishable key behind the #, which
 * browsers do not send to servers: /try#key=pk_...&name=Front%20desk. It starts a call with that key (POST /v1/embed/calls)
 * and joins the room with livekit-client. Its words are those of words.js. */
import LivekitClient from './livekit-client.js';

const { Room, RoomEvent, Track, ConnectionState, DisconnectReason } = LivekitClient;

const el = (id) => document.getElementById(id);
const link = new URLSearchParams(location.hash.slice(1));
const publishableKey = link.get('key') ?? '';

let room = null;
let clockTimer = null;
let meterTimer = null;

/* Says what can go wrong, in words that say what to do. kind: a DOMException's name, a code of the API, one of ours; detail: what the
 * service says of what has no words of ours. */
function showProblem(kind, detail) {
  const isKnown = words.has(`problem.${kind}`);
  words.tell(el('problem-title'), isKnown ? `problem.${kind}` : 'problem.other');
  if (isKnown) words.tell(el('problem-text'), `problem.${kind}.help`);
  else words.quote(el('problem-text'), detail || String(kind), 'en');
  el('problem').hidden = false;
}

/* look: of the picture of the agent, which is the state itself where that is the agent's own. */
function setState(state, look = state) {
  el('avatar').dataset.state = look;
  words.tell(el('state'), `state.${words.has(`state.${state}`) ? state : 'idle'}`);
}

function setName(name) {
  if (name) words.quote(el('agent-name'), name);
  else words.tell(el('agent-name'), 'try.agent');
}

function setInCall(isInCall) {
  el('start').hidden = isInCall;
  el('end').hidden = el('mute').hidden = el('meters').hidden = el('clock').hidden = !isInCall;
}

/* A node that has begun since this page was loaded is none that its policy names: loaded again, the page goes on with the call, once. */
const isAnew = Boolean(history.state?.callAnew);
let isRefused = false;
function noteRefusal({ effectiveDirective }) { isRefused ||= effectiveDirective === 'connect-src'; }

async function startCall() {
  el('problem').hidden = true;
  el('captions').replaceChildren();
  if (!publishableKey) return showProblem('nokey');
  if (!navigator.mediaDevices?.getUserMedia) return showProblem('insecure');
  el('start').disabled = true;
  setState('asking', 'connecting');
  try {
    document.addEventListener('securitypolicyviolation', noteRefusal);
    const microphone = await LivekitClient.createLocalAudioTrack({ echoCancellation: true, noiseSuppression: true, autoGainControl: true });
    setState('connecting');
    const call = await requestCall().catch((error) => { microphone.stop(); throw error; });
    await joinRoom(call, microphone);
  } catch (error) {
    await leave();
    if (isRefused && !isAnew) {
      history.replaceState({ callAnew: true }, '');
      return location.reload();
    }
    setState('failed', 'idle');
    showProblem(error.problem ?? (words.has(`problem.${error.name}`) ? error.name : 'connect'), error.message);
  } finally {
    document.removeEventListener('securitypolicyviolation', noteRefusal);
    el('start').disabled = false;
  }
}

/* Answers { livekitUrl, token }; fails with the API's code as .problem. */
async function requestCall() {
  let response;
  try {
    response = await fetch('/v1/embed/calls', {
      method: 'POST',
      headers: { Authorization: `Bearer ${publishableKey}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
  } catch {
    throw Object.assign(new Error('unreachable'), { problem: 'unreachable' });
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw Object.assign(new Error(body.error ?? `status ${response.status}`), { problem: body.code ?? 'unreachable' });
  return body;
}

async function joinRoom(call, microphone) {
  room = new Room();
  watchRoom(room);
  await room.connect(call.livekitUrl, call.token);
  await room.localParticipant.publishTrack(microphone, { source: Track.Source.Microphone });
  await room.startAudio();
  setInCall(true);
  startClock();
  startMeters(microphone);
  showAgent();
}

function watchRoom(current) {
  current.registerTextStreamHandler('lk.transcription', showCaption);
  current.on(RoomEvent.TrackSubscribed, (track) => {
    if (track.kind === Track.Kind.Audio) document.body.append(track.attach());
  });
  current.on(RoomEvent.ParticipantConnected, showAgent);
  current.on(RoomEvent.ParticipantAttributesChanged, showAgent);
  current.on(RoomEvent.Reconnecting, () => setState('lost', 'connecting'));
  current.on(RoomEvent.Reconnected, showAgent);
  current.on(RoomEvent.Disconnected, async (reason) => {
    if (room !== current) return;
    await leave();
    const isPlain = [DisconnectReason.CLIENT_INITIATED, DisconnectReason.ROOM_DELETED, DisconnectReason.ROOM_CLOSED].includes(reason);
    setState(isPlain ? 'ended' : 'disconnected', 'idle');
    if (!isPlain) showProblem(reason === DisconnectReason.SERVER_SHUTDOWN ? 'unreachable' : 'connect');
  });
}

function showAgent() {
  const agent = room && [...room.remoteParticipants.values()].find((participant) => participant.isAgent);
  if (!agent) return setState('waiting', 'connecting');
  setName(agent.name || link.get('name'));
  setState(agent.attributes['lk.agent.state'] ?? 'initializing');
}

/* The agent's captions grow by deltas in one stream; the caller's come as whole versions under one segment id. */
async function showCaption(reader, participant) {
  const isCaller = participant.identity === room?.localParticipant.identity;
  const attributes = reader.info.attributes ?? {};
  const line = captionLine(attributes['lk.segment_id'] ?? reader.info.id, isCaller);
  try {
    for await (const part of reader) {
      line.textContent = isCaller && !line.classList.contains('growing') ? part : line.textContent + part;
      line.classList.add('growing');
      scrollCaptions();
    }
  } catch { /* the call ended in the middle of the sentence: what came stays */ }
  line.classList.remove('growing');
  line.classList.toggle('interim', isCaller && attributes['lk.transcription_final'] !== 'true');
  if (!line.textContent.trim()) line.remove();
  scrollCaptions();
}

function captionLine(segment, isCaller) {
  const id = `segment-${segment}`;
  const existing = document.getElementById(id);
  if (existing) return existing;
  const line = document.createElement('li');
  line.id = id;
  line.className = isCaller ? 'caller-said' : 'agent-said';
  line.setAttribute('aria-label', words.text(line.dataset.label = isCaller ? 'try.you' : 'try.agent'));
  el('captions').append(line);
  el('hint').hidden = true;
  return line;
}

function scrollCaptions() {
  el('captions').scrollTop = el('captions').scrollHeight;
}

function startClock() {
  const began = Date.now();
  clockTimer = setInterval(() => {
    const seconds = Math.floor((Date.now() - began) / 1000);
    el('clock').textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  }, 500);
}

/* Both meters show the loudness of the real streams. */
function startMeters(microphone) {
  const context = new AudioContext();
  const meters = [[el('meter-caller'), loudness(context, microphone.mediaStreamTrack), false]];
  meterTimer = setInterval(() => {
    const publication = room && [...room.remoteParticipants.values()].flatMap((p) => [...p.trackPublications.values()]).find((p) => p.track);
    if (publication && meters.length === 1) meters.push([el('meter-agent'), loudness(context, publication.track.mediaStreamTrack), true]);
    for (const [meter, read, isAgent] of meters) {
      meter.value = read();
      if (isAgent) el('avatar').style.setProperty('--level', String(0.8 + meter.value));
    }
  }, 60);
  startMeters.context = context;
}

function loudness(context, mediaTrack) {
  const analyser = new AnalyserNode(context, { fftSize: 512 });
  context.createMediaStreamSource(new MediaStream([mediaTrack])).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  return () => {
    analyser.getFloatTimeDomainData(samples);
    const power = samples.reduce((sum, x) => sum + x * x, 0) / samples.length;
    return Math.max(0, Math.min(1, (10 * Math.log10(power + 1e-10) + 60) / 50));
  };
}

async function leave() {
  clearInterval(clockTimer);
  clearInterval(meterTimer);
  startMeters.context?.close();
  startMeters.context = null;
  const old = room;
  room = null;
  document.querySelectorAll('audio').forEach((audio) => audio.remove());
  setInCall(false);
  if (old && old.state !== ConnectionState.Disconnected) await old.disconnect();
  old?.localParticipant.trackPublications.forEach((publication) => publication.track?.stop());
}

async function toggleMute() {
  const isMuted = !room.localParticipant.isMicrophoneEnabled;
  await room.localParticipant.setMicrophoneEnabled(isMuted);
  el('mute').setAttribute('aria-pressed', String(!isMuted));
  words.tell(el('mute'), isMuted ? 'try.mute' : 'try.unmute');
}

setName(link.get('name'));
el('start').addEventListener('click', startCall);
el('mute').addEventListener('click', toggleMute);
el('end').addEventListener('click', async () => { await leave(); setState('ended', 'idle'); });
addEventListener('pagehide', () => room?.disconnect());
if (!publishableKey) showProblem('nokey');
else if (isAnew) { history.replaceState(null, ''); startCall(); }
