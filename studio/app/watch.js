/* A running call as the service tells it (GET /v1/calls/{id}/stream): its turns, the runs of its tools, what the agent looked up and
 * what it does now. A stream that was cut is taken up again after the last turn that came. */
import { useEffect, useState } from './lib.js';
import { ApiError, openStream } from './api.js';

const AGAIN_MS = 2000;
const PASSAGES_KEPT = 20;
export const UNSEEN = { call: null, turns: [], runs: [], passages: [], state: null, isOver: false };

const withRun = (runs, run) => [...runs.filter((one) => one.number !== run.number), run].sort((a, b) => a.number - b.number);

/* What is known after one event more. */
export function follow(known, { event, id, data }) {
  switch (event) {
    case 'call': return { ...known, call: data };
    case 'turn': return { ...known, turns: [...known.turns.slice(0, Number(id) - 1), data] };
    case 'tool': return { ...known, runs: withRun(known.runs, data) };
    case 'passages': return { ...known, passages: [...known.passages.slice(1 - PASSAGES_KEPT), data] };
    case 'state': return { ...known, state: data.state };
    case 'end': return { ...known, isOver: true };
    default: return known;
  }
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/* tell(known) after each event, until the end of the call or `signal`. */
export async function watch(id, tell, signal) {
  let known = UNSEEN;
  while (!known.isOver && !signal.aborted) {
    try {
      for await (const one of openStream(`/v1/calls/${encodeURIComponent(id)}/stream`, known.turns.length, signal)) {
        known = follow(known, one);
        tell(known);
      }
    } catch (error) {
      if (error instanceof ApiError && [401, 403, 404, 409].includes(error.status)) return;
    }
    if (!known.isOver) await pause(AGAIN_MS);
  }
}

/* isWanted: the call runs. */
export function useWatch(id, isWanted) {
  const [known, setKnown] = useState(UNSEEN);
  useEffect(() => {
    if (!id || !isWanted) return undefined;
    const cut = new AbortController();
    setKnown(UNSEEN);
    watch(id, setKnown, cut.signal);
    return () => cut.abort();
  }, [id, isWanted]);
  return known;
}
