/* Public addresses only, whole: a name server of our own that changes its answers between saving and connecting, names
 * of private networks, redirects, and literal addresses in the spellings that clients read differently. */
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { startService, makeWorkspace } from '../harness/service.mjs';
import { startNames } from '../harness/names.mjs';
import { startReceiver } from '../harness/receiver.mjs';

let names, service, receiver, api, agentId;
before(async () => {
  names = await startNames();
  receiver = await startReceiver();
  service = await startService({ env: { EARSHOT_EGRESS_ALLOW: '', EARSHOT_EGRESS_NAMESERVER: names.address,
    EARSHOT_RTC_PORT: '0' } });
  ({ api } = await makeWorkspace(service));
  agentId = (await api('POST', '/v1/agents', { name: 'A' })).body.agent.id;
});
after(async () => {
  await service?.close();
  receiver?.close();
  names?.close();
});

const tool = (url) => api('POST', '/v1/tools', { name: `t${Math.random().toString(36).slice(2)}`, description: 'd',
  url });

test('a name that changes its answer is not connected to', async () => {
  names.answers['rebind.example'] = ['8.8.8.8'];
  const url = receiver.url('/ok').replace('127.0.0.1', 'rebind.example');
  const made = await tool(url);
  assert.equal(made.status, 201, made.text);
  const { webhook } = (await api('POST', '/v1/webhooks', { url, events: ['*'] })).body;
  for (const inside of ['127.0.0.1', '169.254.169.254', '10.0.0.1']) {
    names.answers['rebind.example'] = [inside];
    const run = (await api('POST', `/v1/tools/${made.body.tool.id}/test`, {})).body;
    assert.equal(run.success, false);
    assert.equal(run.status, 502);
    assert.match(run.error, /not a public address/);
    const sent = (await api('POST', `/v1/webhooks/${webhook.id}/test`)).body;
    assert.equal(sent.ok, false);
    assert.match(sent.error, /not a public address/);
  }
  names.answers['rebind.example'] = ['8.8.8.8', '127.0.0.1']; // one bad address among good ones
  assert.equal((await api('POST', `/v1/tools/${made.body.tool.id}/test`, {})).body.status, 502);
  names.answers['rebind.example'] = 'fail';
  assert.equal((await api('POST', `/v1/tools/${made.body.tool.id}/test`, {})).body.status, 502);
  assert.equal(receiver.deliveries.length, 0);
});

test('names and addresses that are not public are refused wherever a URL is saved', async () => {
  names.answers['inside.example'] = ['10.1.2.3'];
  names.answers['mixed.example'] = ['8.8.8.8', '192.168.0.1'];
  names.answers['broken.example'] = 'fail';
  const urls = ['http://inside.example/', 'http://mixed.example/', 'http://broken.example/', 'http://missing.example/',
    'http://127.0.0.1/', 'http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::a00:1]/', 'http://169.254.169.254/latest/meta-data/', 'http://localhost/', 'http://u:p@8.8.8.8/'];
  for (const url of urls) {
    const answers = {
      tool: await tool(url),
      agent: await api('PATCH', `/v1/agents/${agentId}`, { webhookUrl: url }),
      subscription: await api('POST', '/v1/webhooks', { url, events: ['*'] }),
      call: await api('POST', '/v1/calls', { agentId, webhooks: [{ url }] }),
    };
    for (const [what, { status, body }] of Object.entries(answers)) {
      assert.equal(status, 400, `${what} ${url}`);
      assert.equal(body.code, 'URL_NOT_ALLOWED', `${what} ${url}`);
    }
  }
});
