/* A well-behaved tenant: uses the API at a modest pace, knows what it has saved, keeps every event it is told, and
 * never expects more than the contract says. What it notices that may not be goes to report(invariant, sentence). */
import { createHmac } from 'node:crypto';

const SECRET = 'whsec_0123456789abcdef';
const SLOWEST_MS = 60000;

export class Tenant {
  /* context: { stage, measure, report, random, isExcused(since) (a fault was injected) } */
  constructor(number, workspace, context) {
    Object.assign(this, context);
    this.number = number;
    this.mark = `MARK-t${number}`;
    this.workspace = workspace;
    this.events = new Map(); // id -> { type, callId, createdAt, text, at }
    this.calls = new Map(); // what its callers saw: callId -> { number, isJoined, seconds, ... }
    this.names = [];
    this.isOver = false;
  }

  async settle() {
    const { stage } = this;
    const providers = {
      voice: { provider: 'standin-tts' },
      stt: { provider: 'standin-stt' },
      llm: this.number % 2 ? { provider: 'openai', model: 'good' } : { provider: 'standin-llm' },
    };
    const agent = await this.must('POST', '/v1/agents', {
      name: `Desk ${this.number}`,
      systemInstruction: `You are ${this.mark}.`,
      greetingMode: 'static',
      greetingText: 'Good day, this is the desk.',
      ...providers,
    });
    this.agent = agent.agent;
    this.names = [this.agent.name];
    const tool = await this.must('POST', '/v1/tools', {
      name: 'look',
      description: 'looks',
      url: stage.tools.url(this.mark, 'tools.good.test'),
      auth: 'bearer',
      authToken: `secret-of-${this.mark}`,
    });
    this.tool = tool.tool;
    await this.must('POST', '/v1/webhooks', { url: stage.receiver.url(this.number), events: ['*'], secret: SECRET });
    const { document } = await this.must('POST', '/v1/knowledge/documents', {
      name: 'Hours',
      text: `The desk of ${this.mark} is open from nine to five on weekdays.`,
    });
    this.document = document;
  }

  /* A request of the set-up, which must succeed. */
  async must(method, path, body) {
    const { answer } = await this.ask(method, path, body);
    if (!answer || answer.status >= 300) throw new Error(`${method} ${path}: ${answer?.status} ${answer?.text}`);
    return answer.body;
  }

  async ask(method, path, body) {
    const began = performance.now();
    let answer = null,
      error = null;
    try {
      answer = await this.workspace.api(
        method,
        path,
        body,
        { Connection: 'keep-alive' },
        AbortSignal.timeout(SLOWEST_MS),
      );
    } catch (fault) {
      error = fault.cause?.code ?? fault.name;
    }
    return { answer, error, ms: performance.now() - began };
  }

  /* One request of the working day; answers its body when it was as it should be. */
  async use(kind, method, path, body) {
    const from = performance.now();
    const { answer, error, ms } = await this.ask(method, path, body);
    const isExcused = this.isExcused(from);
    if (answer && answer.status < 300) {
      if (!isExcused) {
        this.measure.add('api ms', ms);
        this.measure.add(`${method} ${path.replace(/[a-z]+_[A-Za-z0-9]{20}/, ':id')}`, ms);
        if (kind !== 'read') this.measure.add(`${kind} ms`, ms);
      }
      return answer.body;
    }
    if (!isExcused)
      this.report(
        'requests succeed',
        `tenant ${this.number}: ${method} ${path}: ${error ?? `${answer.status} ${answer.text.slice(0, 200)}`} ` +
        `after ${ms.toFixed(0)} ms`,
      );
    return null;
  }

  /* What the name may be: one, or several where answers were lost. */
  async rename() {
    const wanted = `Desk ${this.number} ${this.random.under(1e6)}`;
    const changed = await this.use('write', 'PATCH', `/v1/agents/${this.agent.id}`, { name: wanted });
    this.names = changed ? [wanted] : [...this.names, wanted];
  }

  async look() {
    const read = await this.use('read', 'GET', `/v1/agents/${this.agent.id}`);
    if (read && !this.names.includes(read.agent.name))
      this.report(
        'writes are kept',
        `tenant ${this.number}: the name is ${read.agent.name}, not ${this.names.join(' or ')}`,
      );
  }

  async testTool() {
    const from = performance.now();
    const body = await this.use('tool', 'POST', `/v1/tools/${this.tool.id}/test`, {});
    if (!body || this.isExcused(from)) return;
    if (!body.success)
      this.report(
        'requests succeed',
        `tenant ${this.number}: its tool test failed: ${JSON.stringify(body).slice(0, 200)}`,
      );
    else if (body.data.mark !== this.mark || body.data.secret !== `Bearer secret-of-${this.mark}`)
      this.report('nothing of others is seen', `tenant ${this.number}: its tool answered ${JSON.stringify(body.data)}`);
  }

  async list() {
    const path = this.random.pick([
      '/v1/me',
      '/v1/agents',
      '/v1/tools',
      '/v1/calls?limit=20',
      '/v1/webhooks',
      '/v1/knowledge/documents',
      '/v1/catalog',
    ]);
    const body = await this.use('read', 'GET', path);
    const ids = body ? (JSON.stringify(body).match(/usr_[A-Za-z0-9]+/g) ?? []) : [];
    const strangers = ids.filter((id) => id !== this.workspace.workspaceId);
    if (strangers.length)
      this.report('nothing of others is seen', `tenant ${this.number}: ${path} names ${strangers[0]}`);
  }

  async search() {
    const body = await this.use('read', 'POST', '/v1/knowledge/search', {
      documentIds: [this.document.id],
      query: 'When is the desk open?',
    });
    const stranger = body?.hits?.find((hit) => !hit.text.includes(this.mark));
    if (stranger) this.report('nothing of others is seen', `tenant ${this.number}: a search found ${stranger.text}`);
  }

  async work() {
    const acts = [this.rename, this.look, this.look, this.testTool, this.list, this.list, this.search];
    while (!this.isOver) {
      await this.random.pick(acts).call(this);
      await new Promise((next) => setTimeout(next, this.random.between(300, 1500) * this.stage.pace));
    }
  }

  /* A delivery of its subscription. */
  take(delivery) {
    const hmac = createHmac('sha256', SECRET).update(`${delivery.timestamp}.`).update(delivery.text);
    const wanted = `sha256=${hmac.digest('hex')}`;
    if (delivery.signature !== wanted)
      this.report('events are signed', `tenant ${this.number}: ${delivery.id} has another signature`);
    const event = JSON.parse(delivery.text);
    const known = this.events.get(event.id);
    if (known && known.text !== delivery.text)
      this.report('a repeated event is the same', `tenant ${this.number}: ${event.id} came with other bytes`);
    if (known) return;
    this.events.set(event.id, {
      id: event.id,
      type: event.type,
      callId: event.call?.id,
      createdAt: event.createdAt,
      data: event.data,
      text: delivery.text,
      at: delivery.at,
    });
    if (event.call?.metadata?.userId && event.call.metadata.userId !== this.workspace.workspaceId)
      this.report('nothing of others is seen', `tenant ${this.number}: an event of ${event.call.metadata.userId} came`);
    if (!this.isExcused() && !this.stage.clockStepMs())
      this.measure.add('event late ms', delivery.at - Date.parse(event.createdAt));
  }
}
