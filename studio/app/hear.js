/* A button that lets a voice be heard: asks the service for a sentence and plays it; pressed again, it stops. One voice plays
 * at a time. */
import { html, signal, useEffect, useId, useRef } from './lib.js';
import { api } from './api.js';
import { t } from './text.js';
import { Button, Icon, explain, explainFaults, useWork } from './ui.js';

const wavOf = (response) => response.blob();
const playing = signal(null); // the button's id
let player = null;

function stop() {
  player?.pause();
  if (player) URL.revokeObjectURL(player.src);
  player = playing.value = null;
}

async function play(id, sound) {
  stop();
  const mine = player = new Audio(URL.createObjectURL(sound));
  playing.value = id;
  for (const end of ['ended', 'error']) mine.addEventListener(end, () => { if (player === mine) stop(); });
  await mine.play().catch((error) => {
    if (error.name === 'AbortError') return; // stopped before it began
    if (player === mine) stop();
    throw error;
  });
}

/* voice: as of an agent. onFaults: given what the API says of its fields; without it all is said here. */
export function Hear({ voice, label, kind = '', onFaults }) {
  const id = useId(), isGone = useRef(false);
  const [hear, busy, error] = useWork(async () => {
    onFaults?.({});
    try {
      const sound = await api('POST', '/v1/voices/preview', { voice }, {}, wavOf);
      if (!isGone.current) await play(id, sound);
    } catch (fault) {
      onFaults?.(fault.faults ?? {});
      throw fault;
    }
  });
  useEffect(() => () => {
    isGone.current = true;
    if (playing.value === id) stop();
  }, []);
  const isPlaying = playing.value === id;
  const said = error && (explainFaults(error) ?? explain(error));
  return html`<${Button} kind=${kind} busy=${busy} aria-label=${isPlaying ? undefined : label} onClick=${isPlaying ? stop : hear}><${Icon} name=${isPlaying ? 'stop' : 'play'} />${busy ? t('working') : isPlaying ? t('hear.stop') : t('hear')}<//>
    ${said && html`<span class="fault" role="alert">${said}</span>`}`;
}
