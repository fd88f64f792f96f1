import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { innbound, serve, until } from '../support/process.ts';
import { listen, type Received, type Reply } from './http-server.ts';
import { temporaryFolder } from './support.ts';
import { rawReservation } from './workspace.ts';

type Told = { version: number; idempotency_key: string; data: { id: string } };
const told = ({ body }: Received): Told => body as unknown as Told;

/** The operator's day with a destination that misbehaves: a running service, and the commands beside it. */
test('dead letters by CLI: listed, shown, fixed, replayed, dropped', async (t) => {
  const refused = new Set(['refused', 'unwanted']);
  const tries = new Map<string, number>();
  const crm = await listen((request): Reply => {
    const { id } = told(request).data;
    tries.set(id, (tries.get(id) ?? 0) + 1);
    if (refused.has(id)) return { status: 422, body: { error: 'no such segment' } };
    return { status: id === 'flaky' && tries.get(id) === 1 ? 500 : 200 };
  });
  const { folder, remove } = await temporaryFolder();
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  };
  const connector = (statuses: string) => `connector: pms
pull: { request: { path: /r, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }, pagination: { type: none } }
values: { status: { confirmed: [${statuses}] } }
`;
  await write('innbound.yaml', 'network: { allow_private: true }\n');
  await write('connectors/pms.yaml', connector('CONF'));
  await write('destinations/crm.yaml', `destination: crm\ntype: http\nurl: ${crm.url}\nretry: [1s]\n`);
  await write(
    'integrations/lisbon.yaml',
    'integration: lisbon\nconnector: pms\nbrand_id: LIS01\ntimezone: Europe/Lisbon\ncountry: PT\npush: { enabled: true }\ndeliver: [crm]\n',
  );
  const service = await serve(folder);
  t.after(async () => {
    await service.stop();
    await crm.close();
    await remove();
  });
  const at = (...args: string[]) => innbound([...args, '--workspace', folder, '--json']);
  const letters = async (...args: string[]) => (await at('dead-letters', 'list', ...args)).json();
  const delivered = (id: string) => async () =>
    crm.received.some((request) => told(request).data.id === id && !refused.has(id));

  const [endpoint] = (await at('endpoint', 'lisbon')).json();
  const events = [
    ...['fine', 'flaky', 'refused', 'unwanted'].map((id) => rawReservation(id)),
    rawReservation('strange', { status: 'GARANTIDA' }),
  ].map((data) => JSON.stringify({ event: 'reservation.created', data }));
  const sent = await innbound(
    ['partner', 'send', '--url', String(endpoint?.url), '--brand', 'LIS01', '--folder', path.join(folder, 'letters')],
    { input: events.join('\n'), env: { INNBOUND_WEBHOOK_SECRET: String(endpoint?.secret) } },
  );
  assert.equal(sent.code, 0, sent.stderr);
  await until(
    'the destination got a request for each',
    async () => tries.get('flaky') === 2 && tries.has('refused') && tries.has('unwanted'),
  );
  const dead = await until('three are dead', async () => {
    const found = await letters();
    return found.length === 3 && found;
  });
  const kinds = dead.map(({ reservation_id: id, kind, code }) => [id, kind, code]).sort();
  assert.deepEqual(kinds, [
    ['refused', 'delivery', 'deliver.refused'],
    ['strange', 'event', 'record.unknown_status'],
    ['unwanted', 'delivery', 'deliver.refused'],
  ]);
  const spoken = await innbound(['dead-letters', 'list', '--workspace', folder]);
  assert.match(spoken.stdout, /record\.unknown_status +.*GARANTIDA/, 'what is wrong, not only the code');
  const timeline = await innbound(['reservation', 'fine', '--integration', 'lisbon', '--workspace', folder]);
  assert.match(timeline.stdout, /crm: version 1 delivered, try 1/);
  assert.doesNotMatch(timeline.stdout, /,\s*$/m);
  const idOf = (reservation: string) => String(dead.find(({ reservation_id: id }) => id === reservation)?.id);

  const [shown = {}] = (await at('dead-letters', 'show', idOf('refused'))).json();
  const { answer, status, duration_ms } = shown.detail as { answer: string; status: number; duration_ms: number };
  assert.deepEqual([answer, status], ['{"error":"no such segment"}', 422]);
  assert.equal(typeof duration_ms, 'number');

  const strange = idOf('strange');
  await write('connectors/pms.yaml', connector('CONF, GARANTIDA'));
  assert.equal((await at('apply')).code, 0);
  const [recorded = {}] = (await at('dead-letters', 'replay', strange, '--diff', '--under', 'recorded')).json();
  assert.equal(recorded.kind, 'still_failing');
  const [diff = {}] = (await at('dead-letters', 'replay', strange, '--diff')).json();
  assert.equal(diff.kind, 'ready');
  assert.equal((diff.after as { status: string }).status, 'confirmed');

  refused.delete('refused');
  const replayed = await at('dead-letters', 'replay', '--all', '--rate', '10');
  assert.equal(replayed.code, 0);
  assert.equal(replayed.json()[0]?.replayed, 3);
  await until('the mended one arrives', delivered('strange'));
  await until('the refused one arrives', delivered('refused'));
  // Replayed and refused again, it is dead again.
  const [unwanted] = await until('the third is dead again', async () => {
    const found = await letters();
    return found.length === 1 && found;
  });
  const keys = crm.received.map(told).filter(({ data }) => data.id === 'refused');
  assert.ok(keys.length >= 2);
  assert.equal(new Set(keys.map(({ idempotency_key: key }) => key)).size, 1);

  const drop = ['dead-letters', 'drop', String(unwanted?.id)];
  assert.notEqual((await at(...drop)).code, 0, 'a reason is required');
  assert.notEqual((await at(...drop, '--reason', ' ')).code, 0, 'an empty one is none');
  assert.equal((await at(...drop, '--reason', 'a test')).code, 0);
  const closed = await letters('--state', 'all', '--reservation', 'unwanted');
  assert.deepEqual(
    closed.map(({ state }) => state),
    ['replayed', 'dropped'],
  );

  const [flaky = {}] = (await at('reservation', 'flaky', '--integration', 'lisbon')).json();
  const story = flaky.timeline as { what: string; outcome: string; status?: number; duration_ms?: number }[];
  assert.deepEqual(
    story.filter(({ what }) => what === 'delivery').map((one) => [one.outcome, one.status, typeof one.duration_ms]),
    [
      ['retry', 500, 'number'],
      ['delivered', 200, 'number'],
    ],
  );
  const [admin] = (await at('token', 'create', '--role', 'admin')).json();
  const previews = `${service.url}/api/v1/audit?action=dead_letters.preview`;
  const audit = await fetch(previews, { headers: { authorization: `Bearer ${admin?.token}` } });
  const { items } = (await audit.json()) as { items: { integration: string; target: object }[] };
  assert.deepEqual(
    items.map(({ integration, target }) => [integration, target]),
    [
      ['lisbon', { id: strange, under: 'today' }],
      ['lisbon', { id: strange, under: 'recorded' }],
      ['lisbon', { id: idOf('refused') }],
    ],
    'a difference shows guest data',
  );
  assert.doesNotMatch(service.stderr(), /guests\.example|Exemplo/);
});
