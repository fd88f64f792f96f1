import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { longestId } from '../../src/core/canonical/field-check.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { countActivity } from '../../src/operator/store/activity.ts';
import { settleAlerts } from '../../src/operator/store/alerts.ts';
import { until } from '../support/process.ts';
import { type ApiNode, apiNode, reservation } from './node.ts';

let node: ApiNode;
let admin: string;
before(async () => {
  node = await apiNode();
  admin = await node.token('admin');
  await node.take(
    'grand',
    reservation('R1'),
    reservation('R2', { guests: [{ first_name: 'João', last_name: 'de Sousa', phone: '+351 912 345 678' }] }),
    { id: 'BAD', check_in: 'someday' },
  );
  await node.take('other', reservation('X1', { confirmation_number: 'ZZ-9' }));
});
after(() => node.stop());

const get = async (path: string, token = admin) => {
  const { status, body } = await node.call('GET', path, token);
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  return body;
};
const ids = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id).sort();

test('a reservation is found by its id, confirmation number, e-mail, phone and name, however it is typed', async () => {
  assert.deepEqual(ids(await get('/reservations?q=R1')), ['R1']);
  assert.deepEqual(ids(await get('/reservations?q=zz-9')), ['X1']);
  assert.deepEqual(ids(await get(`/reservations?q=${encodeURIComponent(' ANA.R1@mail.example ')}`)), ['R1']);
  assert.deepEqual(ids(await get(`/reservations?q=${encodeURIComponent('+351 912-345-678')}`)), ['R2']);
  assert.deepEqual(ids(await get('/reservations?q=sousa')), []);
  assert.deepEqual(ids(await get('/reservations?q=de%20sousa')), ['R2']);
  assert.deepEqual(ids(await get('/reservations?q=ana%20prado&integration=other')), ['X1']);
  assert.deepEqual(ids(await get('/reservations?q=100%25')), []);
});

test('without a search text the newest records come page by page, each once', async () => {
  const first = await get('/reservations?limit=2');
  const second = await get(`/reservations?limit=2&cursor=${first.next_cursor}`);
  assert.deepEqual([...ids(first), ...ids(second)].sort(), ['R1', 'R2', 'X1']);
  assert.equal(second.next_cursor, null);
  assert.equal((await node.call('GET', '/reservations?cursor=bm9uc2Vuc2U', admin)).status, 400);
});

test('the timeline of a reservation, and the audit that it was read', async () => {
  const story = await get('/integrations/grand/reservations/R1');
  assert.equal(story.version, 1);
  assert.equal(story.data.total_amount, 310.5);
  assert.ok(story.deliveries.some((one: { destination: string }) => one.destination === 'lake'));
  const { items } = await get('/audit?action=reservations.timeline');
  assert.equal(items[0].integration, 'grand');
  assert.deepEqual(items[0].target, { integration: 'grand', id: 'R1', limit: 500 });
  assert.equal(items[0].actor, 'the admin');
});

test('integrations are paused and resumed, and a paused one is not started', async () => {
  assert.equal((await node.call('POST', '/integrations/grand/pause', admin, { reason: 'works' })).status, 200);
  assert.equal((await get('/integrations/grand')).paused, true);
  assert.equal((await node.call('POST', '/integrations/grand/resume', admin, {})).status, 200);
  assert.equal((await get('/integrations/grand')).paused, false);
});

test('integrations come by name, in pages, and are found by name, brand id or connector', async () => {
  const names = async (query: string) => {
    const { items, next_cursor } = await get(`/integrations${query}`);
    return [items.map(({ name }: { name: string }) => name), next_cursor];
  };
  assert.deepEqual(await names(''), [['grand', 'other'], null]);
  const [first, cursor] = await names('?limit=1');
  assert.deepEqual(first, ['grand']);
  assert.deepEqual(await names(`?limit=1&cursor=${cursor}`), [['other'], null]);
  assert.deepEqual(await names('?q=OTH'), [['other'], null]);
  const { brand_id, connector } = await get('/integrations/other');
  assert.deepEqual(await names(`?q=${brand_id.toLowerCase()}`), [['other'], null]);
  assert.deepEqual(await names(`?connector=${connector}&q=oth`), [['other'], null]);
  assert.deepEqual(await names('?connector=none'), [[], null]);
});

test('a run is queued once; a second request returns the first', async () => {
  const first = await node.call('POST', '/integrations/grand/runs', admin, { sync: 'pre_stay' });
  assert.equal(first.status, 202);
  const second = await node.call('POST', '/integrations/grand/runs', admin, { sync: 'pre_stay' });
  assert.deepEqual(second.body, { run_id: first.body.run_id, already_going: true });
  assert.equal((await get(`/runs/${first.body.run_id}`)).status, 'queued');
  assert.equal((await get('/runs?integration=grand')).items.length, 1);
  const stay = await node.call('POST', '/integrations/grand/runs', admin, { sync: 'stay' });
  assert.equal(stay.body.code, 'pull.no_such_sync');
  const fill = await node.call('POST', '/integrations/grand/backfill', admin, { from: '2026-01-02', to: '2026-01-01' });
  assert.equal(fill.status, 422);
});

test('dead letters: listed, shown, previewed, dropped with a reason', async () => {
  const list = await get('/dead-letters?integration=grand');
  assert.equal(list.total, 1);
  const [{ id }] = list.items;
  assert.equal((await get(`/dead-letters/${id}`)).raw.value.check_in, 'someday');
  assert.equal((await get(`/dead-letters/${id}/preview`)).kind, 'still_failing');
  const replay = await node.call('POST', `/dead-letters/${id}/replay`, admin, {});
  assert.equal(replay.body.result, 'still_failing');
  assert.equal((await node.call('POST', `/dead-letters/${id}/drop`, admin, {})).status, 422);
  assert.equal((await node.call('POST', `/dead-letters/${id}/drop`, admin, { reason: 'a test' })).status, 200);
  assert.equal((await node.call('POST', `/dead-letters/${id}/drop`, admin, { reason: 'again' })).status, 409);
});

test('a sign-in link works once, and its session needs the console’s header to change anything', async () => {
  const link = await node.call('POST', '/sign-in-links', admin, { name: 'night desk', role: 'operator' });
  const token = String(link.body.url).split('#')[1] ?? '';
  assert.equal((await node.call('GET', '/runs', token)).status, 401, 'a sign-in link is not a token');
  const signed = await node.call('POST', '/session', undefined, { token });
  assert.equal(signed.status, 200);
  const cookie = signed.headers.get('set-cookie') ?? '';
  assert.match(cookie, /HttpOnly; SameSite=Strict; Max-Age=\d+/);
  assert.equal((await node.call('POST', '/session', undefined, { token })).status, 401);
  const own = { cookie: cookie.split(';')[0] ?? '' };
  assert.equal((await node.call('GET', '/session', undefined, undefined, own)).body.name, 'night desk');
  const pause = (headers: Record<string, string>) =>
    node.call('POST', '/integrations/grand/resume', undefined, {}, headers);
  assert.equal((await pause(own)).status, 403);
  const fromConsole = { ...own, 'x-innbound-console': '1' };
  assert.equal((await pause(fromConsole)).status, 200);
  assert.equal((await node.call('DELETE', '/session', undefined, undefined, fromConsole)).status, 200);
  assert.equal((await node.call('GET', '/session', undefined, undefined, own)).status, 401);
});

test('an endpoint is issued with its secret once, rotated, retired', async () => {
  assert.equal(await get('/integrations/grand/endpoint'), null);
  const issued = await node.call('POST', '/integrations/grand/endpoint', admin, {});
  assert.match(issued.body.secret, /^whsec_/);
  assert.equal((await node.call('POST', '/integrations/grand/endpoint', admin, {})).body.secret, undefined);
  assert.equal((await get('/integrations/grand/endpoint')).secrets.length, 1);
  const rotated = await node.call('POST', '/integrations/grand/endpoint/rotate', admin, {});
  assert.notEqual(rotated.body.secret, issued.body.secret);
  assert.equal((await get('/integrations/grand/endpoint')).secrets.length, 2);
  assert.equal((await node.call('DELETE', '/integrations/grand/endpoint', admin)).status, 200);
  for (const path of [
    '/integrations/grand/rejections',
    '/rejections',
    '/integrations/grand/sandbox-reports',
    '/events',
  ]) {
    assert.deepEqual((await get(path)).items, []);
  }
});

test('secrets are write-only', async () => {
  const value = `s3cret-${createHmac('sha256', 'x').update('y').digest('hex')}`;
  assert.equal((await node.call('PUT', '/secrets/partner.key', admin, { value })).status, 200);
  const list = await get('/secrets');
  assert.deepEqual(
    list.items.map((one: { name: string }) => one.name),
    ['partner.key'],
  );
  assert.ok(!JSON.stringify([list, await get('/audit')]).includes(value));
  assert.equal((await node.call('PUT', '/secrets/another', admin, { value })).status, 200);
  const first = await get('/secrets?limit=1');
  assert.equal(first.items[0].name, 'another');
  assert.deepEqual(await get(`/secrets?limit=1&cursor=${first.next_cursor}`), list);
  assert.deepEqual(await get('/secrets?q=PARTNER'), list);
  assert.equal((await node.call('DELETE', '/secrets/another', admin)).status, 200);
  const { source } = await get('/documents/integration/grand');
  const usersWith = async (text: string) => {
    assert.equal((await node.call('PUT', '/documents/integration/grand', admin, { text })).status, 200);
    return (await get('/secrets')).items[0].used_by;
  };
  const reference = `"\${secret:partner.key}"`;
  assert.deepEqual(await usersWith(`# ${reference}: a comment refers to nothing\n${source}`), []);
  const grand = { kind: 'integration', name: 'grand' };
  const typed = /"\$\{secret:typed_\w+\}"/;
  assert.match(source, typed);
  assert.deepEqual(await usersWith(source.replace(typed, reference)), [grand]);
  assert.deepEqual(await usersWith(source.replace(typed, 'letmein')), []);
  assert.equal((await node.call('DELETE', '/secrets/partner.key', admin)).status, 200);
  for (const own of ['innbound.key', 'typed_x']) {
    assert.equal((await node.call('PUT', `/secrets/${own}`, admin, { value })).status, 422, own);
    assert.equal((await node.call('DELETE', `/secrets/${own}`, admin)).status, 422, own);
  }
});

test('a document is checked, written, put in force; a mistake says where; a typed credential stays itself', async () => {
  const before = await get('/documents/integration/grand');
  assert.ok(!before.source.includes('letmein'));
  const wrong = { kind: 'integration', name: 'grand', text: before.source.replace('Europe/Lisbon', 'Europe/Lisbn') };
  const { mistakes } = (await node.call('POST', '/documents/validate', admin, wrong)).body;
  assert.equal(mistakes.length, 1);
  assert.deepEqual([mistakes[0].path, mistakes[0].line], ['timezone', 4]);
  assert.equal((await node.call('PUT', '/documents/integration/grand', admin, { text: wrong.text })).status, 422);
  const text = before.source.replace('Europe/Lisbon', 'Europe/Madrid');
  const applied = await node.call('PUT', '/documents/integration/grand', admin, { text });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  assert.equal(applied.body.version, before.version + 1);
  const grand = node.runtime.active().integrations.get('grand');
  assert.equal(grand?.body.timezone, 'Europe/Madrid');
  const resolved = await node.runtime.resolve(grand?.body.pull?.auth ?? {});
  assert.equal(resolved.kind === 'ok' && (resolved.body as { token: string }).token, 'letmein');
  const renamed = await node.call('PUT', '/documents/integration/elsewhere', admin, { text });
  assert.equal(renamed.status, 422);
  assert.equal((await get('/documents?kind=integration')).items.length, 2);
  assert.equal((await get('/schemas/connector')).type, 'object');
  assert.equal((await node.call('DELETE', '/documents/connector/hotel', admin)).status, 422);
  const unknown = await node.call('GET', '/documents/integration/grand?version=99', admin);
  assert.equal(unknown.body.detail, 'There is no version 99 of integration grand.');
});

test('the mapping studio shows records, notes and origins, or the mistakes in the text', async () => {
  const connector = (await get('/documents/connector/hotel')).source;
  const sample = JSON.stringify({ reservations: [reservation('S1'), { id: 'S2' }] });
  const shown = (await node.call('POST', '/map/preview', admin, { connector, sample })).body;
  assert.deepEqual(
    shown.records.map(({ kind, id }: { kind: string; id: string }) => [kind, id]),
    [
      ['record', 'S1'],
      ['dead', 'S2'],
    ],
  );
  assert.equal(shown.records[0].origins.id, 'id');
  const broken = await node.call('POST', '/map/preview', admin, { connector: `${connector}mapp: {}\n`, sample });
  assert.equal(broken.body.mistakes[0].line, 6);
  const suggested = await node.call('POST', '/map/suggest', admin, { sample, name: 'acme' });
  assert.match(suggested.body.connector, /^connector: acme$/m);
  const again = await node.call('POST', '/map/preview', admin, { connector: suggested.body.connector, sample });
  assert.equal(again.body.records[0].id, 'S1', JSON.stringify(again.body));
  assert.equal((await node.call('POST', '/map/suggest', admin, { sample: '[1, 2]' })).status, 422);
  const notJson = await node.call('POST', '/map/preview', admin, { connector, sample: '<xml/>' });
  assert.equal(notJson.body.problem.code, 'operate.invalid_input');
});

test('fetching a page for the studio is tried once and reports the error', async () => {
  const gone = await node.call('POST', '/integrations/other/sample', admin, {});
  assert.deepEqual([gone.status, gone.body.code], [409, 'pull.unreachable']);
  assert.match(gone.body.detail, /ECONNREFUSED/);
  const answers = [
    { status: 503, headers: {}, code: 'pull.server_error', says: /503/ },
    { status: 429, headers: { 'retry-after': '90' }, code: 'pull.rate_limited', says: /90 s/ },
  ];
  let asked = 0;
  const partner = createServer((_, response) => {
    const { status = 500, headers } = answers[asked++] ?? {};
    response.writeHead(status, headers).end();
  });
  await new Promise<void>((resolve) => partner.listen(0, '127.0.0.1', resolve));
  const { source } = await get('/documents/integration/other');
  const base = `http://127.0.0.1:${(partner.address() as AddressInfo).port}`;
  const text = source.replace('http://127.0.0.1:2', base);
  assert.equal((await node.call('PUT', '/documents/integration/other', admin, { text })).status, 200);
  for (const [index, { code, says }] of answers.entries()) {
    const { body } = await node.call('POST', '/integrations/other/sample', admin, {});
    assert.deepEqual([body.code, asked], [code, index + 1]);
    assert.match(body.detail, says);
  }
  assert.match(gone.body.request.url, /^http:\/\/127\.0\.0\.1:2\//, 'what was requested is reported with the failure');
  partner.close();
});

test('a page of a list by change is asked for within the longest step that the partner allows', async () => {
  const put = async (kind: string, name: string, text: string) =>
    assert.equal((await node.call('PUT', `/documents/${kind}/${name}`, admin, { text })).status, 200);
  await put(
    'connector',
    'by-change',
    `connector: by-change
pull:
  request: { path: /changes, query: { from: "{since}", to: "{now}" } }
  window: none
  since: { first: 365d, step: 7d }
`,
  );
  await put(
    'integration',
    'by-change',
    `integration: by-change
connector: by-change
brand_id: BC1
timezone: Europe/Lisbon
pull: { base_url: "http://127.0.0.1:2", auth: { type: none } }
`,
  );
  const { body } = await node.call('POST', '/integrations/by-change/sample', admin, {});
  const { searchParams } = new URL(body.request.url);
  const asked = Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '');
  assert.ok(asked > 0 && asked <= 7 * 86_400_000, body.request.url);
});

test('a dry run pulls all pages of one day, shows the records, and stores nothing', async (t) => {
  const asked: string[] = [];
  const days = [
    reservation('D1'),
    reservation('D2', { check_out: '2026-11-01' }),
    reservation('X1', { confirmation_number: 'ZZ-9' }),
  ];
  const partner = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://partner');
    asked.push(`${searchParams.get('dateFrom')} ${searchParams.get('dateTo')}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ reservations: days }));
  });
  await new Promise<void>((resolve) => partner.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    partner.close();
    partner.closeAllConnections();
  });
  const { source } = await get('/documents/integration/other');
  const text = source.replace(/base_url: .*/, `base_url: http://127.0.0.1:${(partner.address() as AddressInfo).port}`);
  assert.equal((await node.call('PUT', '/documents/integration/other', admin, { text })).status, 200);
  const { body } = await node.call('POST', '/integrations/other/dry-run', admin, { day: '2026-12-01' });
  assert.deepEqual(asked, ['2026-12-01 2026-12-01']);
  assert.deepEqual(
    [body.day, body.timezone, body.status],
    ['2026-12-01', 'Europe/Lisbon', 'complete'],
    JSON.stringify(body),
  );
  const { fetched, changed, unchanged, dead_lettered } = body.counts;
  assert.deepEqual([fetched, changed, unchanged, dead_lettered], [3, 1, 1, 1]);
  assert.deepEqual(
    body.records.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome]),
    [
      ['D1', 'created'],
      ['D2', 'dead'],
      ['X1', 'unchanged'],
    ],
  );
  assert.equal(body.records[0].record.guests[0].last_name, 'Prado');
  assert.match(body.records[1].message, /check_out/);
  assert.deepEqual(ids(await get('/reservations?integration=other')), ['X1']);
  assert.deepEqual((await get('/runs?integration=other')).items, []);
  const inLisbon = () => new Intl.DateTimeFormat('sv', { timeZone: 'Europe/Lisbon' }).format(new Date());
  const before = inLisbon();
  const today = await node.call('POST', '/integrations/other/dry-run', admin, {});
  assert.ok([before, inLisbon()].includes(today.body.day), 'also at midnight');
  assert.equal((await node.call('POST', '/integrations/nobody/dry-run', admin, {})).status, 404);
  const viewer = await node.token('viewer');
  assert.equal((await node.call('POST', '/integrations/other/dry-run', viewer, {})).status, 403);
});

test('the overview counts activity; destinations and deliveries show the backlog', async () => {
  await node.runtime.pool.query(`update history set at = now() - interval '20 seconds'`);
  await countActivity(node.runtime.pool);
  const counted = async () => {
    const overview = await get('/overview?period=15m');
    return overview.series.reduce((sum: number, one: { changes: number }) => sum + one.changes, 0);
  };
  assert.equal(await counted(), 3);
  await countActivity(node.runtime.pool);
  assert.equal(await counted(), 3, 'each bucket is counted once');
  const overview = await get('/overview?period=15m');
  assert.equal(overview.totals.waiting, 3);
  assert.equal((await get('/destinations')).items[0].lanes.length, 2);
  assert.equal((await get('/deliveries?integration=grand')).items.length, 2);
  const grand = overview.health.find((one: { integration: string }) => one.integration === 'grand');
  assert.equal(grand.changes, 2);
  assert.deepEqual(grand.lanes, [
    { destination: 'lake', waiting: 2, preview: false, held: 0, failing: false, moves: false },
  ]);
});

test('the overview lists each cause once, with the brands and the changes that it concerns, for those who may see them', async () => {
  const { pool } = node.runtime;
  const lake = { kind: 'destination_away', integration: '', subject: 'lake', severity: 'critical' } as const;
  const refused = { kind: 'auth_failed', integration: 'other', subject: '', severity: 'warning' } as const;
  const kinds = [lake.kind, refused.kind];
  await settleAlerts(
    pool,
    [lake, refused].map((one) => ({ ...one, message: 'Look.', detail: {} })),
    kinds,
  );
  const causes = async (token: string) =>
    (await get('/overview', token)).causes.map((one: Record<string, unknown>) => [one.cause, one.brands, one.waiting]);
  assert.deepEqual(await causes(admin), [
    ['destination:lake', 2, 3],
    ['pull:other', 1, 1],
  ]);
  assert.deepEqual(await causes(await node.token('viewer', ['grand'])), [['destination:lake', 1, 2]]);
  await settleAlerts(pool, [], kinds);
  assert.deepEqual(await causes(admin), []);
  const { items, brands } = await get('/overview/days?q=gran');
  assert.deepEqual([brands, items[0].integration, items[0].pulls], [1, 'grand', true]);
});

test('alerts are listed and acknowledged', async () => {
  const alert = { integration: 'grand', subject: '', severity: 'warning', message: 'Look.', detail: {} } as const;
  await settleAlerts(node.runtime.pool, [{ kind: 'a_kind', ...alert }], ['a_kind']);
  const away = { ...alert, integration: '', subject: 'lake' };
  await settleAlerts(node.runtime.pool, [{ kind: 'b_kind', ...away }], ['b_kind']);
  const limited = await node.token('viewer', ['grand']);
  const counted = async (token: string) => (await get('/overview', token)).totals.open_alerts;
  assert.deepEqual([await counted(admin), await counted(limited)], [2, 1], 'also those of a destination');
  await settleAlerts(node.runtime.pool, [], ['b_kind']);
  const [open] = (await get('/alerts')).items;
  const acknowledged = await node.call('POST', `/alerts/${open.alert_id}/acknowledge`, admin, {});
  assert.equal(acknowledged.body.acknowledged_by, 'the admin');
  await settleAlerts(node.runtime.pool, [], ['a_kind']);
  assert.equal((await get('/alerts')).items.length, 0);
  assert.equal((await get('/alerts?state=all')).items.length, 4);
});

test('the live stream carries only the brands of the token', async () => {
  const token = await node.token('viewer', ['grand']);
  const stopping = new AbortController();
  const response = await fetch(`${node.url}/api/v1/live`, {
    headers: { authorization: `Bearer ${token}` },
    signal: stopping.signal,
  });
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  let text = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  })().catch(() => {});
  const isSent = (id: string) =>
    new RegExp(`event: change\\ndata: \\{"integration":"grand","type":"reservation","id":"${id}"`).test(text);
  await node.take('other', reservation('L1'));
  await node.take('grand', reservation('L1'));
  await until('the stream sends a change of its brand', async () => isSent('L1'));
  // A transaction that begins before other changes and commits after the stream sent them.
  await transaction(node.runtime.pool, async (tx) => {
    await tx.query(
      `insert into history (integration, type, id, effective_at, seq, cause, cause_id, outcome, version, diff)
       values ('grand', 'reservation', 'SLOW', now(), 0, 'event', 'e', 'updated', 2, '[]')`,
    );
    await node.take('grand', reservation('L2'));
    await until('the stream sends a later change', async () => isSent('L2'));
    assert.ok(!isSent('SLOW'));
  });
  await until('the stream sends the slow change', async () => isSent('SLOW'));
  assert.equal(text.split('"id":"L1"').length, 2, 'each is sent once');
  const alert = { integration: '', subject: '', severity: 'critical', detail: {} } as const;
  const shared = (kind: string, brands: string[]) => ({ kind, ...alert, message: `such as ${brands[0]}`, brands });
  const conditions = [
    shared('hidden_kind', ['hidden-1', 'hidden-2']),
    shared('shared_kind', ['hidden-1', 'grand']),
    { ...alert, kind: 'destination_failing', subject: 'lake', message: '77 changes of hidden-1 are waiting' },
  ];
  const kinds = conditions.map(({ kind }) => kind);
  await settleAlerts(node.runtime.pool, conditions, kinds);
  const isAlert = async () => text.includes('"destination_failing"') && text.includes('"shared_kind"');
  await until('the stream sends the alerts that its brand shares', isAlert);
  await settleAlerts(node.runtime.pool, [], kinds);
  assert.ok(text.includes('"An alert is open for 2 brands at once: shared kind."'));
  assert.ok(text.includes('"lake is failing."'));
  assert.ok(!text.includes('hidden'), 'nothing of other brands');
  stopping.abort();
  await reading;
  assert.ok(!text.includes('"other"'));
  assert.ok(!text.includes('Prado'), 'no guest data');
});

test('the API reference loads nothing from other hosts', async () => {
  const page = await fetch(`${node.url}/api/reference`);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  const html = await page.text();
  assert.ok(!/<script|src=|https?:\/\/(?!127)/.test(html));
});

test('a reservation with the longest possible id has a timeline', async () => {
  const id = '予'.repeat(longestId);
  await node.take('other', reservation(id));
  assert.equal((await get(`/integrations/other/reservations/${encodeURIComponent(id)}`)).id, id);
  const { status } = await node.call('GET', `/integrations/other/reservations/${'x'.repeat(10_000)}`, admin);
  assert.ok(status === 400 || status === 404, `${status}`);
});
