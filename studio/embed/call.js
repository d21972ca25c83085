/* The call behind the button: its panel, the start of a call by the publishable key, the room. Loaded at the first click; with the
 * texts, which the button is asked for by name. Captions: the agent's grow by deltas in one stream, the caller's come as whole
 * versions under one segment id. */
import en from './texts/en.json';
import hi from './texts/hi.json';

/* Every text, by language. {0} is filled in. A language more is a file of texts/, named here and in earshot.js. */
export const TEXTS = { en, hi };

const PANEL_CSS = `.panel{--paper:#fff;--ink:#17231f;--soft:#55635e;--line:#d9e0dc;--mine:#e3efe9;--warn:#fff3e2;--red:#a8322a;box-sizing:border-box;width:min(340px,calc(100vw - 40px));padding:16px;border-radius:16px;
border:1px solid var(--line);background:var(--paper);color:var(--ink);text-align:start}
:host([mode=floating]) .panel{position:absolute;bottom:calc(100% + 12px);right:0;box-shadow:0 12px 40px #0004}:host([mode=floating][position=left]) .panel{right:auto;left:0}
:host(:not([mode=floating])) .panel{margin-top:12px}.panel *{box-sizing:border-box}.panel[hidden],.panel [hidden]{display:none}
header{display:flex;align-items:center;gap:8px}h2{margin:0;font-size:1.05em;font-weight:650;flex:1;overflow-wrap:anywhere}time{color:var(--soft);font-variant-numeric:tabular-nums}
.status{margin:2px 0 0;color:var(--soft)}.consent{margin:10px 0 0;color:var(--soft);font-size:.92em}.problem{margin:12px 0 0;padding:10px 12px;border-radius:10px;background:var(--warn)}
ol{list-style:none;margin:12px 0 0;padding:0;max-height:min(240px,35vh);overflow-y:auto;display:grid;gap:6px}li{padding:7px 12px;border-radius:12px;background:color-mix(in srgb,var(--line) 45%,var(--paper));justify-self:start;max-width:88%;overflow-wrap:anywhere}
li.caller{background:var(--mine);justify-self:end}li.interim{font-style:italic}.controls{display:flex;flex-wrap:wrap;gap:8px;margin-top:14px}
button,select{font:inherit;min-height:40px;border-radius:10px;border:1px solid var(--line);background:transparent;color:inherit;padding:8px 14px}button{font-weight:600;cursor:pointer}
button:focus-visible,select:focus-visible,ol:focus-visible{outline:3px solid var(--a);outline-offset:2px}.start{flex:1;background:var(--a);border-color:var(--a);color:var(--i)}.end{flex:1;color:var(--red);border-color:currentColor}
.close{min-height:32px;padding:2px 10px;border-color:transparent;font-size:1.2em;line-height:1}label{display:flex;align-items:center;gap:8px;margin-top:12px;color:var(--soft)}select{flex:1;background:var(--paper);color:var(--ink)}
meter{width:100%;height:8px;margin-top:12px}
@media(prefers-color-scheme:dark){:host(:not([theme=light])) .panel{--paper:#1a2220;--ink:#e8eeeb;--soft:#a5b3ad;--line:#3a4742;--mine:#203a31;--warn:#3a2c15;--red:#ff9a90}}
:host([theme=dark]) .panel{--paper:#1a2220;--ink:#e8eeeb;--soft:#a5b3ad;--line:#3a4742;--mine:#203a31;--warn:#3a2c15;--red:#ff9a90}`;

const AGENT_STATES = ['initializing', 'idle', 'listening', 'thinking', 'speaking'];

function make(tag, { part = '', children = [], ...properties } = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (/^(aria|role)/.test(name)) element.setAttribute(name.replace('aria', 'aria-').toLowerCase(), value);
    else element[name] = value;
  if (part) { element.part = part; element.classList.add(part); }
  element.append(...children);
  return element;
}

/* Variables of the call: the attribute `variables` holds a JSON object; `variable-city` is the variable city. */
function variablesOf(host) {
  let variables = {};
  try { variables = { ...JSON.parse(host.getAttribute('variables') || '{}') }; } catch { console.warn('earshot-call: variables is not JSON'); }
  for (const { name, value } of host.attributes) if (name.startsWith('variable-')) variables[name.slice(9)] = value;
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, String(value)]));
}

const clockText = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

const problemOf = (code, message = code) => Object.assign(new Error(message), { code });

/* May this document use a microphone at all? The code of the text that says why not. */
function obstacle() {
  if (!navigator.mediaDevices?.getUserMedia) return 'insecure';
  const policy = document.permissionsPolicy ?? document.featurePolicy;
  return policy && !policy.allowsFeature('microphone') ? 'frame' : null;
}

/* A call may be over before its caller is through with joining: then no step is waited for any more. */
function whileThere(room, { RoomEvent }) {
  const over = new Promise((_, fail) => { room.once(RoomEvent.Disconnected, () => fail(problemOf('connect'))); });
  over.catch(() => {});
  return (step) => Promise.race([over, step]);
}

export class Call {
  #host; #button; #ui = {}; #room = null; #callId = null; #timers = []; #audio = null; #began = 0; #attempt = null;
  #onPageGone = () => this.#room?.disconnect(); // of the page only as long as there is a call: an element that was opened can go

  constructor(host, button) {
    this.#host = host;
    this.#button = button;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(PANEL_CSS);
    host.shadowRoot.adoptedStyleSheets = [...host.shadowRoot.adoptedStyleSheets, sheet];
    this.#build();
    button.setAttribute('aria-haspopup', 'dialog');
    this.#show(false);
  }

  /* ---- the panel ---- */

  #build() {
    const text = (name) => this.#host.text(name);
    const ui = this.#ui;
    ui.title = make('h2', { part: 'title', id: 'title', textContent: this.#host.getAttribute('name') ?? text('title') });
    ui.clock = make('time', { part: 'clock', hidden: true });
    ui.close = make('button', { part: 'close', type: 'button', textContent: '×', ariaLabel: text('close'), onclick: () => this.close() });
    ui.status = make('p', { part: 'status', role: 'status', textContent: text('idle') });
    ui.consent = make('p', { part: 'consent', textContent: this.#consent() });
    ui.problem = make('p', { part: 'problem', role: 'alert', hidden: true });
    ui.captions = make('ol', { part: 'captions', ariaLabel: text('captions'), ariaLive: 'polite', tabIndex: 0, hidden: true });
    ui.level = make('meter', { part: 'level', min: 0, max: 1, ariaLabel: text('level'), hidden: true });
    ui.language = this.#languages();
    ui.start = make('button', { part: 'start', type: 'button', textContent: text('start'), onclick: () => this.start() });
    ui.mute = make('button', { part: 'mute', type: 'button', textContent: text('mute'), ariaPressed: 'false', hidden: true, onclick: () => this.mute() });
    ui.end = make('button', { part: 'end', type: 'button', textContent: text('end'), hidden: true, onclick: () => this.end() });
    ui.panel = make('div', { part: 'panel', role: 'dialog', children: [
      make('header', { children: [ui.title, ui.clock, ui.close] }), ui.status, ui.consent, ui.language, ui.problem, ui.captions, ui.level,
      make('div', { part: 'controls', children: [ui.start, ui.mute, ui.end] })] });
    ui.panel.setAttribute('aria-labelledby', 'title');
    ui.panel.lang = this.#host.spoken;
    for (const [name, element] of [['name', ui.title], ['consent', ui.consent]]) if (this.#host.hasAttribute(name)) element.lang = this.#host.surrounding;
    ui.panel.addEventListener('keydown', (event) => { if (event.key === 'Escape') this.close(); });
    this.#host.shadowRoot.append(ui.panel);
  }

  /* The attribute's own words, none with consent="off", else ours. */
  #consent() {
    const own = this.#host.getAttribute('consent');
    return own === 'off' ? '' : own || this.#host.text('consent');
  }

  /* languages="en, hi": the caller's choice. */
  #languages() {
    const ids = (this.#host.getAttribute('languages') ?? '').split(',').map((id) => id.trim()).filter(Boolean);
    const names = new Intl.DisplayNames([this.#host.spoken], { type: 'language', fallback: 'code' });
    const nameOf = (id) => { try { return names.of(id); } catch { return id; } };
    const select = make('select', { part: 'language', children: ids.map((id) => new Option(id === 'hinglish' ? 'Hinglish' : nameOf(id), id)) });
    select.value = this.#host.getAttribute('language') ?? ids[0] ?? '';
    return make('label', { hidden: ids.length < 2, children: [this.#host.text('language'), select] });
  }

  #show(isOpen) {
    this.#ui.panel.hidden = !isOpen;
    this.#button.setAttribute('aria-expanded', String(isOpen));
  }

  #status(name, ...values) { this.#ui.status.textContent = this.#host.text(name, ...values); }

  #inCall(isInCall) {
    const { start, mute, end, clock, level, consent, language, captions } = this.#ui;
    const focused = this.#host.shadowRoot.activeElement;
    start.hidden = isInCall;
    mute.hidden = end.hidden = clock.hidden = level.hidden = !isInCall;
    consent.hidden = isInCall || !consent.textContent;
    language.hidden = isInCall || language.querySelectorAll('option').length < 2;
    captions.hidden = !isInCall && !captions.childElementCount;
    if (focused && !focused.offsetParent) (isInCall ? end : start).focus();
  }

  #problem(code, message) {
    this.#ui.problem.textContent = this.#host.text(code) || message || code;
    this.#ui.problem.hidden = false;
    this.#tell('error', { code, message: this.#ui.problem.textContent });
  }

  #tell(name, detail) {
    this.#host.dispatchEvent(new CustomEvent(`earshot:${name}`, { bubbles: true, composed: true, detail: { callId: this.#callId, ...detail } }));
  }

  /* Opens the panel; a caller who has nothing to agree to or to choose is called at once. */
  open() {
    if (!this.#ui.panel.hidden) return this.close();
    this.#show(true);
    this.#inCall(this.#room !== null);
    const isPlain = !this.#consent() && this.#ui.language.hidden;
    if (isPlain && !this.#room) return this.start();
    (this.#room ? this.#ui.end : this.#ui.start).focus();
  }

  /* Closing the panel leaves a running call on: the button opens it again. */
  close() {
    this.#show(false);
    this.#button.focus();
  }

  /* ---- the call ---- */

  /* An attempt goes on until the call is there. Who calls it off (end(), or the page that takes the button away) is not kept waiting for a
   * microphone or an answer: each step looks whether it is still wanted, and takes nothing up that comes too late. */
  async start() {
    if (this.#attempt || this.#room) return;
    const attempt = this.#attempt = new AbortController();
    const stay = () => { if (attempt.signal.aborted || !this.#host.isConnected) throw problemOf('gone'); };
    this.#show(true);
    this.#ui.problem.hidden = true;
    this.#ui.captions.replaceChildren();
    this.#ui.start.setAttribute('aria-disabled', 'true');
    this.#callId = null;
    this.#began = 0;
    let microphone;
    try {
      const blocked = obstacle();
      if (blocked) throw problemOf(blocked);
      this.#status('loading');
      const livekit = await import('./livekit-client.js').then((module) => module.default).catch(() => { throw problemOf('unreachable'); });
      stay();
      this.#status('asking');
      microphone = await livekit.createLocalAudioTrack({ echoCancellation: true, noiseSuppression: true, autoGainControl: true });
      stay();
      this.#status('connecting');
      const call = await this.#request(attempt.signal);
      stay();
      await this.#join(livekit, call, microphone, stay);
    } catch (error) {
      microphone?.stop();
      if (attempt.signal.aborted) return;
      await this.#leave();
      this.#status('idle');
      if (!this.#host.isConnected) return;
      const code = error.code && typeof error.code === 'string' ? error.code : this.#host.text(error.name) ? error.name : 'connect';
      this.#problem(code, error.message);
    } finally {
      if (this.#attempt === attempt) this.#settle();
    }
  }

  #settle() {
    this.#attempt = null;
    this.#ui.start.removeAttribute('aria-disabled');
  }

  async #request(signal) {
    const name = this.#host.getAttribute('caller');
    const language = this.#ui.language.querySelector('select').value || this.#host.getAttribute('language');
    const body = { variables: variablesOf(this.#host), ...(language ? { language } : {}), ...(name ? { participant: { name } } : {}) };
    const response = await fetch(new URL('/v1/embed/calls', this.#host.host), {
      method: 'POST', credentials: 'omit', body: JSON.stringify(body), signal,
      headers: { Authorization: `Bearer ${this.#host.getAttribute('key') ?? ''}`, 'Content-Type': 'application/json' },
    }).catch(() => { if (!signal.aborted) return this.#whyUnread(); throw problemOf('gone'); });
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw problemOf(answer.code ?? 'unreachable', answer.error);
    return answer;
  }

  /* A refused origin cannot read the answer, and so sees what a service that is away looks like; one that answers at all tells them apart. */
  async #whyUnread() {
    const isUp = await fetch(new URL('/embed/earshot.js', this.#host.host), { method: 'HEAD', credentials: 'omit', cache: 'no-store' }).then(() => true, () => false);
    throw problemOf(isUp ? 'ORIGIN_NOT_ALLOWED' : 'unreachable');
  }

  async #join(livekit, call, microphone, stay) {
    const room = new livekit.Room();
    this.#callId = call.callId;
    this.#room = room;
    addEventListener('pagehide', this.#onPageGone);
    this.#watch(livekit, room);
    const wait = whileThere(room, livekit);
    for (const step of [() => room.connect(call.livekitUrl, call.token),
      () => room.localParticipant.publishTrack(microphone, { source: livekit.Track.Source.Microphone }), () => room.startAudio()]) {
      await wait(step());
      stay();
    }
    this.#began = Date.now();
    this.#tell('started', {});
    this.#inCall(true);
    this.#measure(microphone);
    this.#agent();
  }

  #watch({ RoomEvent, Track, DisconnectReason }, room) {
    room.registerTextStreamHandler('lk.transcription', (reader, participant) => this.#caption(room, reader, participant.identity));
    room.on(RoomEvent.TrackSubscribed, (track) => { if (track.kind === Track.Kind.Audio) this.#host.shadowRoot.append(track.attach()); });
    for (const event of [RoomEvent.ParticipantConnected, RoomEvent.ParticipantAttributesChanged, RoomEvent.Reconnected]) room.on(event, () => this.#agent());
    for (const event of [RoomEvent.SignalReconnecting, RoomEvent.Reconnecting]) room.on(event, () => this.#status('lost'));
    for (const event of [RoomEvent.TrackMuted, RoomEvent.TrackUnmuted]) room.on(event, (publication, who) => { if (who === room.localParticipant) this.#heard(publication); });
    room.on(RoomEvent.Disconnected, async (why) => {
      if (this.#room !== room || this.#attempt) return; // a start that is not through fails by itself
      const isPlain = [DisconnectReason.CLIENT_INITIATED, DisconnectReason.ROOM_DELETED, DisconnectReason.ROOM_CLOSED].includes(why);
      await this.#finish(isPlain ? 'agent' : 'lost');
      if (!isPlain) this.#problem('connect');
    });
  }

  #agent() {
    const agent = this.#room && [...this.#room.remoteParticipants.values()].find((participant) => participant.isAgent);
    const state = agent?.attributes['lk.agent.state'] ?? 'initializing';
    this.#status(agent ? AGENT_STATES.includes(state) ? state : 'idle' : 'waiting');
    if (agent?.name && !this.#host.hasAttribute('name')) this.#ui.title.textContent = agent.name;
  }

  async #caption(room, reader, identity) {
    const isCaller = identity === room.localParticipant.identity;
    const attributes = reader.info.attributes ?? {};
    const segment = attributes['lk.segment_id'] ?? reader.info.id;
    const line = this.#line(segment, isCaller);
    let said = '';
    try {
      for await (const part of reader) {
        said = isCaller ? part : said + part;
        line.lastChild.textContent = said;
        this.#ui.captions.scrollTop = this.#ui.captions.scrollHeight;
      }
    } catch { /* the call ended in the middle of the sentence: what came stays */ }
    const isFinal = !isCaller || attributes['lk.transcription_final'] === 'true';
    line.classList.toggle('interim', !isFinal);
    if (!said.trim()) return line.remove();
    this.#tell('transcript', { role: isCaller ? 'user' : 'assistant', text: said, isFinal, segment });
  }

  #line(segment, isCaller) {
    const existing = [...this.#ui.captions.children].find((line) => line.dataset.segment === segment);
    if (existing) return existing;
    const line = make('li', { part: 'caption', ariaLabel: this.#host.text(isCaller ? 'you' : 'agent'), children: [document.createTextNode('')] });
    line.part.add(isCaller ? 'caller' : 'agent');
    line.classList.add(isCaller ? 'caller' : 'agent');
    line.dataset.segment = segment;
    this.#ui.captions.append(line);
    this.#ui.captions.hidden = false;
    return line;
  }

  /* The clock and the level of the caller's own voice. */
  #measure(microphone) {
    const audio = this.#audio = new AudioContext();
    const analyser = new AnalyserNode(audio, { fftSize: 512 });
    const hear = () => { if (audio.state !== 'closed') audio.createMediaStreamSource(new MediaStream([microphone.mediaStreamTrack])).connect(analyser); };
    hear();
    microphone.on('restarted', hear); // another device
    const samples = new Float32Array(analyser.fftSize);
    this.#timers.push(setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, x) => sum + x * x, 0) / samples.length;
      this.#ui.level.value = Math.max(0, Math.min(1, (10 * Math.log10(power + 1e-10) + 60) / 50));
    }, 80), setInterval(() => { this.#ui.clock.textContent = clockText(this.#seconds()); }, 500));
  }

  #seconds() { return this.#began ? Math.floor((Date.now() - this.#began) / 1000) : 0; }

  async mute() {
    if (!this.#room) return;
    const isOn = this.#room.localParticipant.isMicrophoneEnabled;
    try { await this.#room.localParticipant.setMicrophoneEnabled(!isOn); } catch (error) { this.#problem(this.#host.text(error.name) ? error.name : 'microphone', error.message); }
  }

  /* A microphone that is taken away mutes itself: nobody is to talk on unheard. */
  #heard({ isMuted, track }) {
    this.#showMuted(isMuted);
    if (isMuted && track.mediaStreamTrack.readyState === 'ended') this.#problem('microphone');
    else this.#ui.problem.hidden = true;
  }

  #showMuted(isMuted) {
    this.#ui.mute.setAttribute('aria-pressed', String(isMuted));
    this.#ui.mute.textContent = this.#host.text(isMuted ? 'unmute' : 'mute');
  }

  /* Answers whether there was a call, or one on its way. */
  async end() {
    const attempt = this.#attempt;
    if (attempt) this.#settle();
    attempt?.abort();
    if (!attempt && !this.#room) return false;
    await this.#finish('caller');
    return true;
  }

  async #finish(reason) {
    const seconds = this.#seconds(), hasBegun = this.#began > 0;
    await this.#leave(hasBegun);
    this.#status(hasBegun ? 'ended' : 'idle');
    if (hasBegun) this.#ui.status.textContent += ` · ${this.#host.text('duration', clockText(seconds))}`;
    this.#tell('ended', { reason, seconds });
  }

  /* isThere: the room is told; one that is only being joined may take its time, and is let go. */
  async #leave(isThere = true) {
    const room = this.#room;
    this.#room = null;
    removeEventListener('pagehide', this.#onPageGone);
    this.#timers.splice(0).forEach(clearInterval);
    await this.#audio?.close();
    this.#audio = null;
    this.#host.shadowRoot.querySelectorAll('audio').forEach((audio) => audio.remove());
    this.#showMuted(false);
    this.#inCall(false);
    room?.localParticipant.trackPublications.forEach((publication) => publication.track?.stop());
    const left = room?.disconnect();
    if (isThere) await left;
    else left?.catch(() => {});
  }
}
