import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { serveHttp } from '../../src/operator/mcp/server.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { bin } from '../support/process.ts';

/** The official client against the tools, with tokens of a real service. */

let node: ApiNode;
let served: Awaited<ReturnType<typeof serveHttp>>;

before(async () => {
  node = await apiNode();
  await node.take('grand', reservation('R1'));
  served = await serveHttp({ service: node.url, write: false }, 0);
});
after(async () => {
  await served?.close();
  await node?.stop();
});

async function withClient<T>(token: string, work: (client: Client) => Promise<T>, url = served.url): Promise<T> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function call(client: Client, name: string, input: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [first] = content as { text: string }[];
  return { isError: isError === true, body: JSON.parse(first?.text ?? 'null') };
}

test('read-only unless started with --write', async () => {
  const token = await node.token('operator');
  const names = async (url?: string) =>
    withClient(token, async (client) => (await client.listTools()).tools.map(({ name }) => name), url);
  const reading = await names();
  assert.ok(reading.includes('why_is_booking_missing') && !reading.includes('replay_dead_letter'));
  const writing = await serveHttp({ service: node.url, write: true }, 0);
  try {
    assert.ok((await names(writing.url)).includes('replay_dead_letter'));
  } finally {
    await writing.close();
  }
});

test('every argument of every tool is described', async () => {
  const writing = await serveHttp({ service: node.url, write: true }, 0);
  try {
    const { tools } = await withClient(await node.token('viewer'), (client) => client.listTools(), writing.url);
    const bare = tools.flatMap(({ name, inputSchema }) =>
      Object.entries(inputSchema.properties ?? {})
        .filter(([, argument]) => (argument as { description?: string }).description === undefined)
        .map(([argument]) => `${name}.${argument}`),
    );
    assert.deepEqual(bare, []);
  } finally {
    await writing.close();
  }
});

test('a mapping is previewed by the name of a connector, in force or shipped, and in a time zone', async () => {
  await withClient(await node.token('viewer'), async (client) => {
    const sample = JSON.stringify({ reservations: [reservation('R9', { booking_date: '2026-03-01T23:30:00Z' })] });
    const booked = async (input: Record<string, unknown>) =>
      (await call(client, 'preview_mapping', { sample, ...input })).body.records[0].record.booking_date;
    assert.equal(await booked({ connector: 'hotel', timezone: 'Asia/Tokyo' }), '2026-03-02');
    assert.equal(await booked({ connector: 'reference' }), '2026-03-01');
    const { isError, body } = await call(client, 'preview_mapping', { connector: 'nobody', sample });
    assert.ok(isError);
    assert.match(JSON.stringify(body), /no connector nobody/);
  });
});

test('a viewer sees guest data masked, an operator sees it', async () => {
  const shown = async (role: 'viewer' | 'operator') =>
    withClient(await node.token(role), (client) =>
      call(client, 'why_is_booking_missing', { integration: 'grand', id: 'R1' }),
    );
  const masked = await shown('viewer');
  assert.equal(masked.isError, false);
  assert.match(JSON.stringify(masked.body), /•••/);
  assert.doesNotMatch(JSON.stringify(masked.body), /Prado/);
  assert.match(JSON.stringify((await shown('operator')).body), /Prado/);
});

test('a booking that was never stored is answered with its dead letters and the runs', async () => {
  const { body } = await withClient(await node.token('viewer'), (client) =>
    call(client, 'why_is_booking_missing', { integration: 'grand', id: 'R-unknown' }),
  );
  assert.equal(body.stored, false);
  assert.deepEqual(body.dead_letters.items, []);
  assert.ok(Array.isArray(body.runs.items));
});

test('a token limited to another brand sees nothing of this one', async () => {
  const { body } = await withClient(await node.token('operator', ['other']), (client) =>
    call(client, 'why_is_booking_missing', { integration: 'grand', id: 'R1' }),
  );
  assert.doesNotMatch(JSON.stringify(body), /Prado/);
});

test('errors, health, dead letters, documents and mappings', async () => {
  await withClient(await node.token('operator'), async (client) => {
    const explained = await call(client, 'explain_error', { code: 'operate.usage' });
    assert.equal(typeof explained.body.next, 'string');
    assert.equal((await call(client, 'explain_error', { code: 'no.such' })).isError, true);
    const health = await call(client, 'health');
    assert.ok('overview' in health.body && 'alerts' in health.body, JSON.stringify(health));
    assert.deepEqual((await call(client, 'dead_letters_by_reason')).body, { reasons: [] });
    const wrong = await call(client, 'validate_document', {
      kind: 'connector',
      name: 'x',
      text: 'connector: x\nmapp: {}\n',
    });
    assert.match(JSON.stringify(wrong.body), /mapp/);
    const sample = JSON.stringify({ reservations: [reservation('R9')] });
    const suggested = await call(client, 'suggest_mapping', { sample, name: 'acme' });
    assert.match(suggested.body.connector, /connector: acme/);
    const preview = await call(client, 'preview_mapping', { connector: suggested.body.connector, sample });
    assert.match(JSON.stringify(preview.body), /"R9"/);
  });
});

test('dead letters are counted by reason, however many there are, with what to do about each', async () => {
  await node.runtime.pool.query(
    `insert into dead_letters (kind, integration, code, message, detail, fingerprint)
     select 'record', 'grand', 'record.invalid', 'id is required', '{}'::jsonb, n::text from generate_series(1, 250) n
     union all select 'record', 'grand', 'record.unknown_status', 'BLOCKED', '{}'::jsonb, 'blocked'`,
  );
  const { body } = await withClient(await node.token('viewer'), (client) => call(client, 'dead_letters_by_reason'));
  assert.deepEqual(
    body.reasons.map((one: { code: string; records: number }) => [one.code, one.records]),
    [
      ['record.invalid', 250],
      ['record.unknown_status', 1],
    ],
  );
  assert.ok(body.reasons.every((one: { next: string; newest: string }) => one.next.length > 10 && +one.newest > 0));
});

test('without a token, from a page of another site, or for another host, nothing is answered', async () => {
  const post = (headers: Record<string, string>) =>
    fetch(served.url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' });
  assert.equal((await post({})).status, 401);
  assert.equal((await post({ authorization: 'Bearer ib_xxxxxxxx' })).status, 401);
  assert.equal((await post({ authorization: 'Bearer ib_xxxxxxxx', origin: 'https://evil.example' })).status, 403);
});

test('a body is not read before the token is checked', async () => {
  for (const authorization of ['', 'authorization: Bearer ib_xxxxxxxx\r\n']) {
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}content-length: 8000000\r\n\r\n{`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    assert.match(answer.toString(), /^HTTP\/1\.1 401 /);
  }
});

test('innbound mcp speaks over standard input and output', async () => {
  const token = await node.token('viewer');
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({
      command: bin,
      args: ['mcp', '--server', node.url],
      env: { PATH: process.env.PATH ?? '', INNBOUND_TOKEN: token },
    }),
  );
  try {
    const found = await call(client, 'find_reservations', { q: 'R1' });
    assert.match(JSON.stringify(found.body), /"R1"/);
  } finally {
    await client.close();
  }
});

// Last: afterwards the address of the tests has to wait.
test('a wrong token lists no tools, also once the service only tells it to wait', async () => {
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: 'Bearer ib_yyyyyyyy',
  };
  const seen = new Set<number>();
  for (let i = 0; i < 90; i++) {
    const answer = await fetch(served.url, { method: 'POST', headers, body: list });
    seen.add(answer.status);
    assert.doesNotMatch(await answer.text(), /tools|dead_letters/);
  }
  assert.deepEqual([...seen].sort(), [401, 429]);
});
