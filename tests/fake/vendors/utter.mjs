/* Stand-ins of the speaking sockets: Cartesia's contexts, and ElevenLabs' stream-input with one context or several. */
import { oggHum, opusHum } from './ogg.mjs';
import { hum, pieces, sleep } from './sound.mjs';

/* Cartesia. */

const FIXED = ['model_id', 'voice', 'language', 'output_format'];
const RATES = [8000, 16000, 22050, 24000, 44100, 48000];

function cartesiaRefusal(order) {
  if (!order.context_id || !order.model_id || typeof order.transcript !== 'string')
    return 'context_id, model_id and transcript are required';
  const voice = typeof order.voice === 'string' ? order.voice : order.voice?.id;
  if (!voice) return 'voice is required';
  if (order.output_format?.container !== 'raw' || !RATES.includes(order.output_format.sample_rate))
    return 'output_format is invalid';
  const { speed = 1, volume = 1 } = order.generation_config ?? {};
  if (!(speed >= 0.6 && speed <= 1.5) || !(volume >= 0.5 && volume <= 2)) return 'generation_config is out of range';
  return null;
}

export const cartesia = {
  key: (request, url) =>
    request.headers.authorization?.match(/^Bearer (.+)$/)?.[1] ??
    request.headers['x-api-key'] ??
    url.searchParams.get('api_key'),
  error: (status, message) => ({
    type: 'error',
    status_code: status,
    title: 'Refused',
    message,
    error_code: 'refused',
  }),
  check: (url, request) =>
    (request.headers['cartesia-version'] ?? url.searchParams.get('cartesia_version')) ? null : 'a version is required',
  sockets: {
    '/tts/websocket': (peer, { fault }) => {
      const contexts = new Map(); /* id -> {first, isCancelled, work} */
      const fail = (id, message) =>
        peer.send({
          type: 'error',
          context_id: id,
          done: true,
          status_code: 400,
          error_code: 'invalid',
          title: 'Invalid',
          message,
          request_id: '1',
        });
      const say = async (id, context, text, rate, isLast) => {
        const parts = text ? pieces(hum(text, rate), 4800) : [];
        for (const [i, data] of parts.entries()) {
          if (fault === 'cut' && i === 2) return peer.destroy();
          if (fault === 'stall' && i === 2) return peer.stall();
          if (context.isCancelled && fault !== 'late') return undefined;
          peer.send({
            type: 'chunk',
            context_id: id,
            data: data.toString('base64'),
            done: false,
            status_code: 206,
            step_time: 5,
          });
          await sleep(5);
        }
        if (isLast) {
          peer.send({ type: 'done', context_id: id, done: true, status_code: 200 });
          contexts.delete(id);
        }
        return undefined;
      };
      peer.on('message', (data) => {
        const order = JSON.parse(data.toString('utf8')),
          id = order.context_id;
        const context = contexts.get(id);
        if (order.cancel) {
          if (context) context.isCancelled = true;
          return undefined;
        }
        const refusal = cartesiaRefusal(order);
        if (refusal) return fail(id, refusal);
        if (context && FIXED.some((name) => JSON.stringify(context.first[name]) !== JSON.stringify(order[name])))
          return fail(id, 'fields of a context do not change');
        const here = context ?? { first: order, work: Promise.resolve() };
        contexts.set(id, here);
        here.work = here.work.then(() =>
          say(id, here, order.transcript, order.output_format.sample_rate, !order.continue),
        );
        return undefined;
      });
    },
  },
};

/* ElevenLabs. */

const QUERY = [
  'model_id',
  'language_code',
  'output_format',
  'inactivity_timeout',
  'auto_mode',
  'sync_alignment',
  'apply_text_normalization',
  'enable_logging',
  'enable_ssml_parsing',
  'optimize_streaming_latency',
  'seed',
];
const KNOWN = {
  eleven_flash_v2_5: true,
  eleven_turbo_v2_5: true,
  eleven_v3: true,
  eleven_multilingual_v2: false,
  eleven_flash_v2: false,
};
const VOICE = /^\/v1\/text-to-speech\/[^/]+\/(multi-)?stream-input$/;

function alignment(text) {
  const chars = [...text];
  return { chars, charStartTimesMs: chars.map((_, i) => i * 60), charDurationsMs: chars.map(() => 60) };
}

/* One context's text becomes sound when it is flushed or closed. */
function speakElevenLabs(peer, { url, fault }, isMulti) {
  const [codec, hz] = (url.searchParams.get('output_format') ?? 'pcm_44100').split('_');
  const opus = (text) => (fault === 'raw' ? opusHum(text) : pieces(Buffer.concat(oggHum(text, fault)), 901));
  const sound = (text) => (codec === 'opus' ? opus(text) : pieces(hum(text, Number(hz)), 4800));
  const contexts = new Map();
  const fail = (message, code = 1008) => {
    peer.send({ message, error: 'invalid_message', code });
    peer.close(code, message.slice(0, 120));
  };
  const send = (id, audio, text, isFinal) =>
    peer.send({
      audio,
      isFinal,
      normalizedAlignment: null,
      alignment: text ? alignment(text) : null,
      ...(isMulti ? { contextId: id } : {}),
    });
  const say = async (id, context) => {
    const text = context.text.trim();
    context.text = '';
    for (const [i, data] of (text ? sound(text) : []).entries()) {
      if (fault === 'cut' && i === 2) return peer.destroy();
      if (fault === 'stall' && i === 2) return peer.stall();
      send(id, data.toString('base64'), i === 0 ? text : null, null);
      await sleep(5);
    }
    return undefined;
  };
  const end = (id, context) => {
    contexts.delete(id);
    context.work = context.work
      .then(() => say(id, context))
      .then(() => {
        send(id, null, null, true);
        if (!isMulti) peer.close(1000);
      });
  };
  peer.on('message', (data) => {
    const order = JSON.parse(data.toString('utf8')), id = isMulti ? order.context_id : 'only';
    if (order.close_socket) return peer.close(1000);
    if (id === undefined) return order.text === '' ? undefined : fail('context_id is required');
    const context = contexts.get(id);
    if (!context) {
      if (order.text !== ' ')
        return order.text || !order.close_context ? fail('a context begins with a space') : undefined;
      if (contexts.size === 5) return fail('max_active_conversations');
      const { speed = 1 } = order.voice_settings ?? {};
      if (!(speed >= 0.7 && speed <= 1.2)) return fail('voice_settings.speed is out of range');
      contexts.set(id, { text: '', work: Promise.resolve() });
      return undefined;
    }
    if (order.close_context || (!isMulti && order.text === '')) return end(id, context);
    context.text += order.text ?? '';
    if (order.flush) context.work = context.work.then(() => say(id, context));
    return undefined;
  });
}

export const elevenlabs = {
  key: (request) => request.headers['xi-api-key'],
  error: (status, message) => ({ detail: { status: status === 401 ? 'invalid_api_key' : 'bad_request', message } }),
  check(url) {
    for (const name of url.searchParams.keys()) if (!QUERY.includes(name)) return `unknown query parameter ${name}`;
    const model = url.searchParams.get('model_id');
    if (!(model in KNOWN)) return `no such model ${model}`;
    return url.searchParams.get('language_code') && !KNOWN[model] ? 'this model takes no language_code' : null;
  },
  matches: VOICE,
  sockets: {
    match: (peer, context) => speakElevenLabs(peer, context, VOICE.exec(context.url.pathname)[1] !== undefined),
  },
};
