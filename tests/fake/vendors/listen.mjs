/* Stand-ins of the recognising sockets: Deepgram's listen v1 and Flux, and Soniox. They hear HEARD in any voice,
 * word by word. */
import { HEARD, isLoud } from './sound.mjs';

const words = HEARD.split(' ');
const LISTEN = [
  'model',
  'language',
  'encoding',
  'sample_rate',
  'channels',
  'interim_results',
  'endpointing',
  'no_delay',
  'punctuate',
  'numerals',
  'keyterm',
  'smart_format',
  'vad_events',
  'utterance_end_ms',
  'tag',
  'mip_opt_out',
  'filler_words',
  'language_hint',
];
const FLUX = [
  'model',
  'encoding',
  'sample_rate',
  'eot_threshold',
  'eager_eot_threshold',
  'eot_timeout_ms',
  'keyterm',
  'language_hint',
  'tag',
  'mip_opt_out',
  'numerals',
];

/* Text frames carry orders, binary ones sound. */
function each(peer, onSound, onOrder) {
  peer.on('message', (data, isText) => {
    if (!isText) return onSound(data);
    try {
      return onOrder(JSON.parse(data.toString('utf8')));
    } catch {
      return peer.close(1008, 'DATA-0000');
    }
  });
}

function unknown(url, known) {
  for (const name of url.searchParams.keys()) if (!known.includes(name)) return name;
  return null;
}

/* Deepgram. */

const result = (start, transcript, isFinal, fromFinalize) => ({
  type: 'Results',
  channel_index: [0, 1],
  duration: 0.5,
  start,
  is_final: isFinal,
  speech_final: false,
  from_finalize: fromFinalize,
  channel: {
    alternatives: [
      {
        transcript,
        confidence: 0.98,
        words: transcript
          .split(' ')
          .filter(Boolean)
          .map((word, i) => ({ word, start: i, end: i + 1, confidence: 0.98 })),
      },
    ],
  },
  metadata: {
    request_id: '00000000-0000-4000-8000-000000000001',
    model_info: { name: 'nova-3', version: '1', arch: 'nova-3' },
    model_uuid: '00000000-0000-4000-8000-000000000002',
  },
});

export const deepgram = {
  key: (request) =>
    request.headers.authorization?.match(/^(?:Token|Bearer) (.+)$/i)?.[1] ??
    request.headers['sec-websocket-protocol']?.split(/, */)[1],
  error: (status, message) => ({
    err_code: status === 401 ? 'INVALID_AUTH' : 'Bad Request',
    err_msg: message,
    request_id: '1',
  }),
  check(url) {
    const flux = url.pathname === '/v2/listen';
    const odd = unknown(url, flux ? FLUX : LISTEN);
    if (odd) return `unknown query parameter: ${odd}`;
    if (!url.searchParams.get('model')) return 'model is required';
    if (!url.searchParams.get('encoding') || !url.searchParams.get('sample_rate'))
      return 'encoding and sample_rate go together';
    return flux === url.searchParams.get('model').startsWith('flux') ? null : 'no such model here';
  },
  sockets: {
    '/v1/listen': (peer, { url, fault }) => {
      let heard = false,
        told = 0,
        count = 0;
      const wantsInterim = url.searchParams.get('interim_results') === 'true';
      each(
        peer,
        (sound) => {
          heard ||= isLoud(sound);
          if (heard && ++count % 10 === 0 && wantsInterim && told < words.length - 1)
            peer.send(result(0, words.slice(0, ++told).join(' '), false, false));
          if (count > 15) peer.fail(fault);
        },
        (order) => {
          if (order.type === 'Finalize' && heard) {
            peer.send(result(0, HEARD, true, true));
            if (fault === 'twice') peer.send(result(0, HEARD, true, true));
            heard = false;
            told = 0;
          }
          if (order.type !== 'CloseStream') return;
          if (heard) peer.send(result(0, HEARD, true, false));
          peer.send({
            type: 'Metadata',
            transaction_key: 'deprecated',
            request_id: '1',
            sha256: '0',
            created: '2026-11-22T00:00:00.000Z',
            duration: 1,
            channels: 1,
          });
          peer.close(1000);
        },
      );
    },
    '/v2/listen': (peer, { fault }) => {
      let heard = false,
        told = 0,
        sequence = 0,
        turn = 0,
        count = 0;
      const info = (event, transcript) =>
        peer.send({
          type: 'TurnInfo',
          request_id: '1',
          sequence_id: ++sequence,
          event,
          turn_index: turn,
          audio_window_start: 0,
          audio_window_end: count * 0.02,
          transcript,
          words: transcript
            .split(' ')
            .filter(Boolean)
            .map((word) => ({ word, confidence: 0.99 })),
          end_of_turn_confidence: 0.5,
          ...(event === 'EndOfTurn' ? { trigger: 'manual' } : {}),
        });
      const end = () => {
        info('EndOfTurn', HEARD);
        if (fault === 'twice') info('EndOfTurn', HEARD);
        heard = false;
        told = 0;
        turn++;
      };
      peer.send({ type: 'Connected', request_id: '1', sequence_id: sequence });
      each(
        peer,
        (sound) => {
          if (!heard && isLoud(sound)) {
            heard = true;
            info('StartOfTurn', words[0]);
          }
          if (heard && ++count % 10 === 0 && told < words.length - 1) info('Update', words.slice(0, ++told).join(' '));
          if (count > 15) peer.fail(fault);
        },
        (order) => {
          if (order.type === 'ForceEndTurn' && heard) end();
          if (order.type === 'CloseStream') {
            if (heard) end();
            peer.close(1000);
          }
        },
      );
    },
  },
};

/* Soniox. */

const token = (text, isFinal) => ({ text, start_ms: 0, end_ms: 100, confidence: 0.97, is_final: isFinal });
const HINTS = [
  'en',
  'hi',
  'bn',
  'gu',
  'kn',
  'ml',
  'mr',
  'pa',
  'ta',
  'te',
  'ur',
  'es',
  'fr',
  'de',
  'it',
  'pt',
  'nl',
  'pl',
  'ru',
  'ja',
  'ko',
  'zh',
  'ar',
  'tr',
  'id',
];

function sonioxRefusal(start) {
  if (!start.model) return 'model is required';
  if (start.audio_format !== 'auto' && (!start.sample_rate || !start.num_channels))
    return 'sample_rate and num_channels are required for raw audio';
  const bad = start.language_hints?.find((hint) => !HINTS.includes(hint));
  return bad ? `unknown language hint ${bad}` : null;
}

/* The key stands in a header or in the start message, never in both. */
export const soniox = {
  key: (request) => request.headers.authorization?.match(/^Bearer (.+)$/)?.[1] ?? '(in the start message)',
  error: (status, message) => ({ error_code: status, error_message: message }),
  sockets: {
    '/transcribe-websocket': (peer, { fault, request }) => {
      let start = null, heard = false, told = 0, count = 0, processed = 0;
      const tell = (tokens, rest) =>
        peer.send({ tokens, final_audio_proc_ms: processed, total_audio_proc_ms: processed, ...rest });
      const fail = (code, message) => { tell([], { error_code: code, error_message: message }); peer.close(1000); };
      const finals = () => [...HEARD.split(/(?= )/).map((text) => token(text, true))];
      const begin = (order) => {
        start = order;
        if (!order.api_key === !request.headers.authorization)
          return fail(401, 'give the key once: in the header or in the start message');
        const refusal = sonioxRefusal(order);
        return refusal && fail(400, refusal);
      };
      const finish = () => { tell(heard ? finals() : []); tell([], { finished: true }); peer.close(1000); };
      peer.on('message', (data, isText) => {
        if (data.length === 0) return finish();
        if (isText && !start) return begin(JSON.parse(data.toString('utf8')));
        if (!start) return fail(400, 'the start message comes first');
        if (!isText) {
          processed += data.length / 32;
          heard ||= isLoud(data);
          if (count > 15) peer.fail(fault);
          if (heard && ++count % 10 === 0 && told < words.length - 1)
            tell(words.slice(0, ++told).map((word, i) => token(i ? ` ${word}` : word, false)));
          return undefined;
        }
        const order = JSON.parse(data.toString('utf8'));
        if (order.type !== 'finalize') return undefined;
        tell([...(heard ? finals() : []), token('<fin>', true)]);
        if (fault === 'twice') tell([token('<fin>', true)]);
        heard = false;
        told = 0;
        return undefined;
      });
    },
  },
};

/* OpenAI's realtime transcription. */

export const openaiSockets = {
  '/v1/realtime': (peer, { url, fault }) => {
    let session = null, heard = false, bytes = 0, told = 0, count = 0, item = 0;
    const send = (type, rest) => peer.send({ type, event_id: `event_${++count}`, ...rest });
    const fail = (code, message) =>
      send('error', { error: { type: 'invalid_request_error', code, message, param: null } });
    const name = () => ({ item_id: `item_${item}`, content_index: 0 });
    const update = (wish) => {
      const input = wish?.audio?.input;
      if (wish?.type !== 'transcription' || !input?.transcription?.model)
        return fail('invalid_value', 'session is invalid');
      if (input.format?.type !== 'audio/pcm' || input.format.rate !== 24000)
        return fail('invalid_value', 'only 24 kHz');
      if (input.transcription.languages?.length === 0) return fail('invalid_value', 'languages is empty');
      session = wish;
      return send('session.updated', { session });
    };
    const append = (audio) => {
      const samples = Buffer.from(audio, 'base64');
      bytes += samples.length;
      heard ||= isLoud(samples);
      if (++told > 15) peer.fail(fault);
    };
    const commit = () => {
      if (bytes < 4800) return fail('input_audio_buffer_commit_empty', 'buffer too small');
      item++;
      send('input_audio_buffer.committed', { item_id: `item_${item}`, previous_item_id: null });
      const text = heard ? HEARD : '';
      for (const delta of text.split(/(?<= )/).filter(Boolean))
        send('conversation.item.input_audio_transcription.delta', { ...name(), delta });
      const done = { ...name(), transcript: text, usage: { type: 'duration', seconds: bytes / 48000 } };
      send('conversation.item.input_audio_transcription.completed', done);
      if (fault === 'twice') send('conversation.item.input_audio_transcription.completed', done);
      heard = false;
      bytes = 0;
      return undefined;
    };
    if (url.searchParams.get('intent') !== 'transcription')
      return fail('invalid_value', 'intent=transcription is served here');
    send('session.created', {
      session: { type: 'transcription', object: 'realtime.transcription_session', id: 'sess_1' },
    });
    return each(peer, () => peer.close(1003), (order) => {
      if (order.type === 'session.update') return update(order.session);
      if (!session) return fail('invalid_value', 'session.update comes first');
      if (order.type === 'input_audio_buffer.append') return append(order.audio);
      return order.type === 'input_audio_buffer.commit' ? commit() : fail('invalid_value', `unknown ${order.type}`);
    });
  },
};
