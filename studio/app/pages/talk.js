/* The test call beside the editor: the saved agent, the person's own microphone. */
import { loadLivekit } from '../../apart.js';
import { html, useEffect, useLayoutEffect, useRef, useState } from '../lib.js';
import { api, ours } from '../api.js';
import { duration, t } from '../text.js';
import { TestRoom, callAnew, isToCallAnew, takeAnew, watchPolicy } from '../room.js';
import { LookUps, Runs } from '../runs.js';
import { Waterfall } from '../waterfall.js';
import { useWatch } from '../watch.js';
import { Button, Card, explain } from '../ui.js';

const IDLE = { state: 'idle', captions: [], level: 0, isMuted: false, callId: null };
const MICROPHONE_FAULTS = ['NotAllowedError', 'NotFoundError', 'NotReadableError', 'insecure'];

function reasonOf(error) {
  if (MICROPHONE_FAULTS.includes(error.name)) return t(`talk.${error.name}`);
  return typeof error.code === 'string' ? explain(error) : t('talk.connect'); // those of the room have numbers
}

const endCall = (call) => api('POST', `/v1/calls/${call.callId}/end`).catch(() => {});

/* The page may go while the call is being started: its end is asked for in a request that outlives it. */
const endAtOnce = (call) => fetch(`/v1/calls/${call.callId}/end`, { method: 'POST', headers: ours(), keepalive: true }).catch(() => {});

/* A start goes on until its person is in the call, or calls it off: then each step looks whether it is still wanted, and a call that nobody
 * comes to any more is ended. It begins with the saving of what is called, where that is asked for; there is one at a time. */
function useTalk(agentId) {
  const [now, setNow] = useState(IDLE);
  const [phase, setPhase] = useState('idle'); // idle, starting, calling, ended
  const [fault, setFault] = useState(null);
  const room = useRef(null);
  const attempt = useRef(null); // { microphone, call, isOff } while a start goes on
  const callOff = () => {
    const one = attempt.current;
    if (!one) return;
    attempt.current = null;
    one.isOff = true;
    one.microphone?.stop();
    if (one.call) endAtOnce(one.call);
    setPhase('idle');
  };
  const end = async () => { callOff(); await room.current?.leave(); };
  useEffect(() => {
    const onLeave = () => { callOff(); room.current?.leave(); };
    addEventListener('pagehide', onLeave);
    return () => { removeEventListener('pagehide', onLeave); onLeave(); };
  }, []);
  const tell = (change) => {
    if (change.ended) setPhase('ended');
    if (change.isLost) setFault(t('talk.lost'));
    if (change.isMuted !== undefined) setFault(change.isDeaf ? t('talk.microphone') : null);
    setNow((old) => ({ ...old, ...change }));
  };
  const start = async (save) => {
    if (attempt.current) return;
    setPhase('starting');
    setFault(null);
    setNow(IDLE);
    const one = attempt.current = { microphone: null, call: null, isOff: false };
    const stay = () => { if (one.isOff) throw new Error('called off'); };
    const isAnew = takeAnew(agentId), policy = watchPolicy();
    let mine;
    try {
      if (save && !(await save()) && !one.isOff) callOff();
      stay();
      if (!navigator.mediaDevices?.getUserMedia) throw Object.assign(new Error(), { name: 'insecure' });
      const livekit = await loadLivekit();
      stay();
      one.microphone = await livekit.createLocalAudioTrack({ echoCancellation: true, noiseSuppression: true, autoGainControl: true });
      stay();
      const call = await api('POST', '/v1/calls', { agentId });
      if (one.isOff) endAtOnce(call);
      stay();
      one.call = call;
      setNow((old) => ({ ...old, callId: call.callId }));
      mine = room.current = new TestRoom((change) => { if (!one.isOff) tell(change); });
      await mine.join(call, one.microphone, livekit);
      stay();
      attempt.current = null;
      setPhase('calling');
    } catch (error) {
      one.microphone?.stop();
      await mine?.leave();
      if (one.isOff) return;
      attempt.current = null;
      const ended = one.call && endCall(one.call); // nobody comes any more
      if (policy.hasRefused && !isAnew) return await ended, callAnew(agentId);
      setPhase('idle');
      setFault(reasonOf(error));
    } finally {
      policy.end();
    }
  };
  useEffect(() => { if (isToCallAnew(agentId)) start(); }, []);
  const mute = () => room.current.mute().catch((error) => setFault(MICROPHONE_FAULTS.includes(error.name) ? t(`talk.${error.name}`) : t('talk.microphone')));
  return { now, phase, fault, start, end, mute };
}

function Captions({ captions }) {
  const box = useRef();
  useEffect(() => { box.current.scrollTop = box.current.scrollHeight; }, [captions]);
  return html`<div class="captions" ref=${box} tabindex="0" role="log" aria-label=${t('talk.captions')}><ol class="bubbles">${captions.map((one) => html`<li key=${one.id} class="${one.role} ${one.isInterim ? 'is-interim' : ''}"><span class="visually-hidden">${t(`who.${one.role}`)}: </span>${one.text}</li>`)}</ol></div>`;
}

function Clock() {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => { const began = Date.now(); const timer = setInterval(() => setSeconds((Date.now() - began) / 1000), 500); return () => clearInterval(timer); }, []);
  return html`<time class="number soft">${duration(seconds)}</time>`;
}

export function Talk({ agent, isDirty, save }) {
  const { now, phase, fault, start, end, mute } = useTalk(agent.id);
  const isCalling = phase === 'calling';
  const actions = useRef();
  const before = useRef(phase);
  useLayoutEffect(() => { // the button that had the focus may have gone with the call
    if (phase !== before.current && document.activeElement === document.body) actions.current.querySelector('button').focus({ preventScroll: true });
    before.current = phase;
  }, [phase]);
  const seen = useWatch(now.callId, now.callId !== null); // goes on to the end of the call, whoever ends it
  const begun = new Date(seen.call?.userJoinedAt ?? seen.call?.createdAt ?? 0);
  const begin = () => start(isDirty && save);
  return html`<${Card} title=${t('talk.title')} aside=${isCalling && html`<${Clock} />`} class="card talk">
    <div class="state"><span class="dot" data-state=${isCalling ? now.state : 'idle'} aria-hidden="true"><i></i></span><p role="status">${phase === 'idle' ? t('talk.idle') : phase === 'starting' ? t('talk.starting') : phase === 'ended' ? t('talk.ended') : t(`state.${now.state}`)}</p></div>
    ${fault && html`<div class="notice bad" role="alert"><p>${fault}</p></div>`}
    ${isCalling && html`<meter min="0" max="1" value=${now.level} aria-label=${t('talk.level')}></meter>`}
    ${now.captions.length > 0 && html`<${Captions} captions=${now.captions} />`}
    <${Waterfall} turns=${seen.turns} begin=${begun} />
    ${seen.passages.length > 0 && html`<br /><h3>${t('call.lookUps')}</h3><${LookUps} lookUps=${seen.passages} />`}${seen.runs.length > 0 && html`<br /><h3>${t('call.runs')}</h3><${Runs} runs=${seen.runs} />`}<br />
    <div class="actions" ref=${actions}>${isCalling ? html`<${Button} onClick=${mute} aria-pressed=${String(now.isMuted)}>${t(now.isMuted ? 'talk.unmute' : 'talk.mute')}<//><${Button} kind="danger" onClick=${end}>${t('talk.end')}<//>`
      : html`<${Button} kind="primary" busy=${phase === 'starting'} onClick=${begin}>${t(isDirty ? 'talk.saveAndStart' : 'talk.start')}<//>${phase === 'starting' && html`<${Button} onClick=${end}>${t('cancel')}<//>`}`}
      ${phase === 'ended' && now.callId && html`<a class="button" href="/studio/calls/${now.callId}">${t('talk.details')}</a>`}</div><//>`;
}
