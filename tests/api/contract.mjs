/* A client of the real service whose every answer is checked against the service's own OpenAPI document: the path and
 * method must be there, the status documented, the body fit its schema without a member that the document does not
 * name. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { client, makeWorkspace, startService } from '../harness/service.mjs';

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/* Answers are closed here, though clients should expect new members. */
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  if (copy.type === 'object' && copy.properties && !('additionalProperties' in copy)) copy.additionalProperties = false;
  return copy;
}

export class Contract {
  constructor(document) {
    this.document = document;
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats(ajv);
    ajv.addSchema({ $id: 'openapi', components: closed(document.components) });
    this.ajv = ajv;
    this.paths = Object.keys(document.paths).map((path) => (
      { path, pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`) }))
      .sort((a, b) => (a.path.split('{').length - b.path.split('{').length));
  }

  operation(method, path) {
    const bare = path.split('?')[0];
    const entry = this.paths.find(({ pattern }) => pattern.test(bare));
    return entry && this.document.paths[entry.path][method.toLowerCase()];
  }

  validate(schema, body) {
    const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components'));
    const check = this.ajv.compile(local);
    return check(body) ? [] : check.errors.map((error) =>
      `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
  }

  check(method, path, answer) {
    const where = `${method} ${path} -> ${answer.status} ${answer.text.slice(0, 300)}`;
    assert.ok(answer.headers.get('x-request-id'), `${where}: X-Request-Id`);
    if (answer.status >= 400) {
      assert.deepEqual(this.validate({ $ref: '#/components/schemas/Error' }, answer.body), [], where);
      assert.equal(answer.body.status, answer.status, where);
    }
    const operation = this.operation(method, path);
    if (!operation) return;
    const response = operation.responses[answer.status];
    assert.ok(response, `${where}: the document has no such status`);
    if (answer.status >= 400) {
      const codes = Object.keys(response.content['application/json'].examples);
      assert.ok(codes.includes(answer.body.code), `${where}: the document has no such code`);
    } else if (response.content['application/json']) {
      assert.deepEqual(this.validate(response.content['application/json'].schema, answer.body), [], where);
    }
  }
}

/* Engines that need no network and no child process; they stand for the two multilingual ones. */
const standins = Object.fromEntries(['STT', 'TTS', 'LLM'].flatMap((kind) =>
  [[`EARSHOT_ENGINE_STANDIN_${kind}_ENABLED`, 'true'],
  ...(kind === 'LLM' ? [] : [[`EARSHOT_ENGINE_STANDIN_${kind}_MULTILINGUAL`, 'true']])]));

/* The service of one test file: { service, contract, workspace, api, as(key), close() }. Limits are off unless a test
 * wants them, and its end waits for no caller. */
export async function startApi({ env = {}, ...options } = {}) {
  const service = await startService({ env: { EARSHOT_RATE_LIMIT: '0', EARSHOT_AUTH_FAIL_LIMIT: '0',
    EARSHOT_SERVICE_DRAIN_GRACE: '0', ...standins, ...env }, ...options });
  const contract = new Contract(await (await fetch(`${service.url}/v1/openapi.json`)).json());
  const as = (key) => {
    const call = client(service, key);
    return async (method, path, body, headers) => {
      const answer = await call(method, path, body, headers);
      contract.check(method, path, answer);
      return answer;
    };
  };
  const newWorkspace = async (limits) => {
    const workspace = await makeWorkspace(service, limits);
    return { ...workspace, api: as(workspace.key) };
  };
  const workspace = await newWorkspace();
  return { service, contract, workspace, newWorkspace, api: workspace.api, as, close: service.close };
}

/* startApi() for all tests of a file: started before them (then setup() runs), closed after them; `t` is filled by
 * then. */
export function apiForFile(options, setup) {
  const t = {};
  before(async () => {
    Object.assign(t, await startApi(options));
    await setup?.();
  });
  after(() => t.close?.());
  return { t, api: (...args) => t.api(...args) };
}

/* The fault of a field, or undefined. */
export const faultOf = (answer, field) => answer.body.details?.find((fault) => fault.field === field)?.message;

export function refused(answer, status, code, ...fields) {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.body.code, code, answer.text);
  for (const field of fields) assert.ok(faultOf(answer, field), `${field} is not in ${answer.text}`);
}
