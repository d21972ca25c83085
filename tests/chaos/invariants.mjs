/* What must hold at the end, whatever happened: a row is a name and a check that answers the sentences of what does
 * not. Checks that are made on the way report under names of their own: `requests succeed`, `questions are
 * answered`, `calls are not cut`, `writes are kept`, `nothing of others is seen`, `events are signed`, `a repeated
 * event is the same`, `reserved header names are refused`, `it recovers`. */

const usd4 = (usd) => Math.round(usd * 10000);
const costOf = (call) => Math.floor((usd4(call.costPerMinute) * call.durationSeconds + 30) / 60);
const BALANCE_USD4 = usd4(1000);
const MEASURE_SLACK_S = 2.5; // between what a caller on a busy machine sees and what the service does

export async function everyCall(api) {
  const all = [];
  for (let before = ''; ;) {
    const { status, body, text } = await api('GET', `/v1/calls?limit=100${before ? `&before=${before}` : ''}`);
    if (status !== 200) throw new Error(`GET /v1/calls: ${status} ${text}`);
    all.push(...body.calls);
    if (!body.nextCursor) return all;
    before = body.nextCursor;
  }
}

const balanceOf = async (api) => usd4((await api('GET', '/v1/me')).body.workspaces[0].balance);

/* subject: { who, calls (of the API), api, tenant? } */
export const invariants = [
  {
    name: 'every call ends',
    check: ({ calls }) => calls.filter((call) => call.status !== 'ended').map((call) => `${call.id} is ${call.status}`),
  },

  {
    name: 'a call costs its rounded seconds',
    check: ({ calls }) =>
      calls
        .filter((call) => usd4(call.callCost) !== (call.userJoinedAt ? costOf(call) : 0))
        .map((call) => `${call.id}: ${call.durationSeconds} s at ${call.costPerMinute} cost ${call.callCost}`),
  },

  {
    name: 'the balance is what the calls left',
    async check({ calls, api }) {
      const cost = calls.reduce((sum, call) => sum + usd4(call.callCost), 0),
        balance = await balanceOf(api);
      return balance === BALANCE_USD4 - cost
        ? []
        : [`${calls.length} calls cost ${cost / 10000}, the balance is ${balance / 10000} of ${BALANCE_USD4 / 10000}`];
    },
  },

  {
    name: 'a call lasts as long as its caller saw',
    check({ calls, tenant }) {
      if (!tenant) return [];
      return calls
        .filter((call) => {
          const seen = tenant.calls.get(call.id);
          return (
            seen?.isOver &&
            seen.isJoined &&
            !seen.isExcused &&
            Math.abs(call.durationSeconds - seen.seconds) > 1 + MEASURE_SLACK_S
          );
        })
        .map(
          (call) =>
            `${call.id}: ${call.durationSeconds} s, its caller saw ${tenant.calls.get(call.id).seconds} s ` +
            `(${call.endReason})`,
        );
    },
  },

  {
    name: 'no call is billed for longer than it was there',
    /* From the first attempt to join to the end of all sessions: a caller that was stopped, or waits for a core, learns
     * later than the service that it is up. */
    check({ calls, tenant }) {
      if (!tenant) return [];
      return calls
        .filter((call) => {
          const seen = tenant.calls.get(call.id);
          if (!seen?.isOver || seen.isCut) return false;
          const stoodStill = seen.stills.reduce((sum, { seconds }) => sum + seconds, 0);
          return call.durationSeconds > seen.mostSeconds + stoodStill + 1 + MEASURE_SLACK_S;
        })
        .map(
          (call) =>
            `${call.id}: ${call.durationSeconds} s billed, its caller was there for ` +
            `${tenant.calls.get(call.id).mostSeconds} s at most (${call.endReason})`,
        );
    },
  },

  {
    name: 'callers have their calls',
    check({ calls, tenant }) {
      if (!tenant) return [];
      const ids = new Set(calls.map((call) => call.id));
      return [...tenant.calls.keys()]
        .filter((id) => !ids.has(id))
        .map((id) => `${id} was started and is not in the log`);
    },
  },

  {
    name: 'replies are of their own agent',
    check({ calls, tenant }) {
      if (!tenant) return [];
      return calls.flatMap((call) =>
        call.transcript
          .filter((turn) => /MARK-/.test(turn.text) && !turn.text.includes(tenant.mark))
          .map((turn) => `${call.id}: "${turn.text}"`),
      );
    },
  },

  {
    name: 'packets come without holes',
    check({ tenant }) {
      if (!tenant) return [];
      return [...tenant.calls]
        .filter(
          ([, seen]) => seen.isOver && seen.isJoined && !seen.isExcused && seen.received < seen.expected * 0.98 - 1,
        )
        .map(([id, seen]) => `${id}: ${seen.received} of ${seen.expected} packets came`);
    },
  },

  ...eventRules(),
];

/* Events of a well-behaved tenant's calls, whose receiver answers 204 at once. */
function eventRules() {
  const rule = (name, check) => ({
    name,
    check: ({ calls, tenant }) =>
      tenant
        ? calls.flatMap((call) =>
          check(call, eventsOf(tenant, call.id), tenant.calls.has(call.id)).map((text) => `${call.id}: ${text}`),
        )
        : [],
  });
  const eventsOf = (tenant, id) => [...tenant.events.values()].filter((event) => event.callId === id);
  const count = (events, type) => events.filter((event) => event.type === type).length;
  const times = (events, type, least, most) => {
    const n = count(events, type);
    return n >= least && n <= most ? [] : [`${n} ${type}`];
  };
  /* "call.started: a call was created and the agent sent to its room": told before the start is answered. A call that
   * the service's death found before that was told to nobody, and ends agent-shutdown like any other. */
  const started = (call, isTold) => {
    if (call.endReason === 'dispatch-failed') return [0, 0];
    const isUnborn = call.endReason === 'agent-shutdown' && !call.agentJoinedAt && !call.userJoinedAt && !isTold;
    return [isUnborn ? 0 : 1, 1];
  };
  return [
    rule('each event comes once', (call, events, isTold) => [
      ...times(events, 'call.started', ...started(call, isTold)),
      ...times(events, 'call.agent_joined', call.agentJoinedAt ? 1 : 0, call.agentJoinedAt ? 1 : 0),
      ...times(events, 'call.user_joined', call.userJoinedAt ? 1 : 0, call.userJoinedAt ? 1 : 0),
      ...times(events, 'call.user_left', call.endReason === 'user-left' ? 1 : 0, call.userJoinedAt ? 1 : 0),
      ...times(events, 'call.ended', call.status === 'ended' ? 1 : 0, 1),
    ]),

    rule('what was said was told', (call, events) => {
      const told = [...events]
        .filter(({ type }) => type.startsWith('transcript.'))
        .map((event) => `${event.type.split('.')[1]}: ${event.data.text}`)
        .sort();
      const kept = call.transcript.map((turn) => `${turn.role}: ${turn.text}`).sort();
      return JSON.stringify(told) === JSON.stringify(kept)
        ? []
        : [`${told.length} turns were told, ${kept.length} kept`];
    }),

    rule('call.ended says what the call does', (call, events) =>
      events
        .filter(
          (event) =>
            event.type === 'call.ended' &&
            call.status === 'ended' &&
            (event.data.reason !== call.endReason ||
              event.data.durationSeconds !== call.durationSeconds ||
              event.data.callCost !== call.callCost),
        )
        .map(
          (event) =>
            `told ${event.data.reason} ${event.data.durationSeconds} s ${event.data.callCost}, is ` +
            `${call.endReason} ${call.durationSeconds} s ${call.callCost}`,
        ),
    ),

    rule('createdAt gives order', (call, events) => {
      const at = (type) => events.find((event) => event.type === type)?.createdAt;
      const order = ['call.started', 'call.agent_joined', 'call.ended'].map(at).filter(Boolean);
      return order.every((time, n) => n === 0 || order[n - 1] <= time)
        ? []
        : [`started, agent joined, ended at ${order.join(', ')}`];
    }),
  ];
}

export const strangers = {
  name: 'no event of an unknown call',
  check: ({ calls, tenant }) => {
    const ids = new Set(calls.map((call) => call.id));
    return [...tenant.events.values()]
      .filter((event) => event.callId && !ids.has(event.callId))
      .map((event) => `${event.type} of ${event.callId}`);
  },
};
