import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { startRun } from '../../src/composition/pull.ts';
import { openLog } from '../../src/kit/log.ts';
import { openTracer } from '../../src/kit/open-tracer.ts';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { type Service, startService } from '../../src/service.ts';
import { listen } from '../deliver/http-server.ts';
import { eventBody, postEvent, reservationData } from '../intake/push/support.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/process.ts';
import { hotelWorkspace } from './workspace.ts';

interface Exported {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

interface Body {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Exported[] }[] }[];
}

test('one trace connects the webhook, the stored event and the delivery; another the pull and the delivery', async (t) => {
  const exports: string[] = [];
  const collector = await listen(({ text }) => {
    exports.push(text);
    return { status: 200, body: {} };
  });
  const sent = new Map<string, string | undefined>();
  const destination = await listen(({ headers, body }) => {
    const { data } = body as { data: { id: string } };
    sent.set(data.id, headers.traceparent as string | undefined);
    return { status: 204 };
  });
  const partner = await startSimulator({ seed: 4, reservations: 6, auth: { type: 'bearer', token: 'letmein' } });
  const { dir, remove } = await hotelWorkspace(partner.baseUrl);
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const lake = `destination: lake\ntype: webhook\nurl: ${destination.url}/in\nsecret: ${secret}\n`;
  await writeFile(path.join(dir, 'destinations/lake.yaml'), lake);
  const { url } = await testDatabase();
  // The exporter reads the process's own variables.
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
  const env = { ...process.env, DATABASE_URL: url };
  const nodes: Service[] = [];
  const start = async (role: 'web' | 'all') => {
    nodes.push(await startService({ env, workspaceDir: dir, port: 0, host: '127.0.0.1', role, logLevel: 'silent' }));
    return nodes.at(-1) as Service;
  };
  t.after(async () => {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
    await Promise.all([partner.stop(), collector.close(), destination.close(), remove()]);
  });

  // The web node stores, the other applies and delivers: the trace has to survive in the database.
  const web = await start('web');
  const { endpoint_id, secret: key = '' } = await addressFor(web.runtime, 'grand');
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const body = eventBody({ data: reservationData({ reservation_id: 'TRACED' }) });
  const target = { endpointId: endpoint_id, secret: key };
  const answer = await postEvent(web.url, target, body, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  assert.equal(answer.status, 202);
  const unsigned = await fetch(`${web.url}/webhooks/${endpoint_id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent: `00-${'b'.repeat(32)}-00f067aa0ba902b7-01` },
    body: '{}',
  });
  assert.equal(unsigned.status, 401);
  const all = await start('all');
  await until('the stored event is delivered', async () => sent.has('TRACED'));
  await postEvent(
    all.url,
    target,
    eventBody({ event_id: 'ev-2', data: reservationData({ reservation_id: 'AT-ONCE' }) }),
  );
  await startRun(all.runtime, 'grand', { sync: 'pre_stay', kind: 'manual', requestedBy: 'test' });
  await until('the event and the whole run are delivered', async () => {
    const { rows } =
      await all.runtime.pool.query(`select (select count(*)::int from runs where state in ('queued', 'running')) as runs,
      (select count(*)::int from outbox where due_at is not null) as waiting`);
    return sent.has('AT-ONCE') && sent.size > 2 && rows[0].runs === 0 && rows[0].waiting === 0;
  });
  for (const node of nodes) await node.stop();

  const spans = exports.flatMap((body) =>
    (JSON.parse(body) as Body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans)),
  );
  const ofSender = sent.get('TRACED') ?? '';
  const ofUs = sent.get('AT-ONCE') ?? '';
  assert.equal(ofSender.slice(3, 35), traceId, 'the destination gets the trace of the sender');
  for (const [traceparent, parent] of [[ofSender, '00f067aa0ba902b7'] as const, [ofUs, undefined] as const]) {
    const chain = spans.filter((span) => span.traceId === traceparent.slice(3, 35));
    const named = (name: string) => chain.find((span) => span.name === name);
    assert.deepEqual(chain.map(({ name }) => name).sort(), ['accept webhook', 'apply event', 'deliver']);
    assert.equal(named('accept webhook')?.parentSpanId || undefined, parent);
    assert.equal(named('apply event')?.parentSpanId, named('accept webhook')?.spanId);
    assert.equal(named('deliver')?.parentSpanId, named('apply event')?.spanId);
    assert.equal(traceparent, `00-${chain[0]?.traceId}-${named('deliver')?.spanId}-01`);
  }

  const runs = new Map(spans.filter(({ name }) => name === 'run').map((span) => [span.spanId, span.traceId]));
  const pages = new Map(
    spans
      .filter(({ name, parentSpanId, traceId }) => name === 'page' && runs.get(parentSpanId ?? '') === traceId)
      .map((span) => [span.spanId, span.traceId]),
  );
  const fromPages = spans.filter(
    ({ name, parentSpanId, traceId }) => name === 'deliver' && pages.get(parentSpanId ?? '') === traceId,
  );
  assert.equal(fromPages.length, sent.size - 2, 'every other delivery belongs to a page of a run');

  const text = exports.join('');
  assert.ok(!text.includes('b'.repeat(32)), 'an unverified sender joins no trace');
  const people = partner.hotel.list().flatMap((one) => [one.id, ...partner.hotel.guestsOf(one).flatMap(textsOf)]);
  for (const secretText of ['Quill', 'marta.quill', 'TRACED', 'AT-ONCE', key, secret, ...people]) {
    assert.ok(!text.includes(String(secretText)), `exported: ${secretText}`);
  }
});

test('without an endpoint there is no tracer, and the library is not loaded', async () => {
  const log = openLog('silent');
  for (const env of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }]) assert.equal(await openTracer(env, 'n', log), undefined);
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  assert.equal(await openTracer({ ...endpoint, OTEL_SDK_DISABLED: 'true' }, 'n', log), undefined);
  assert.equal(await openTracer({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, 'n', log), undefined);
  const statically = readFileSync(new URL('../../src/kit/trace.ts', import.meta.url), 'utf8');
  assert.doesNotMatch(statically, /from '@opentelemetry|from '\.\/trace-otlp/);
});

test('a malformed traceparent starts a new trace; work on one run shares a trace across processes', async () => {
  const log = openLog('silent');
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_TRACES_SAMPLER_ARG: '0' };
  const tracer = await openTracer(env, 'n', log);
  assert.ok(tracer);
  const start = (more: { parent?: string; traceOf?: string }) =>
    tracer.start('x', { kind: 'internal', attributes: {}, ...more }).traceparent;
  const id = 'a'.repeat(32);
  assert.match(start({ parent: `00-${id}-${'b'.repeat(16)}-01` }), new RegExp(`^00-${id}-[0-9a-f]{16}-01$`));
  assert.match(start({ parent: `01-${id}-${'b'.repeat(16)}-00-more` }), new RegExp(`^00-${id}-[0-9a-f]{16}-00$`));
  for (const parent of [
    '',
    'nonsense',
    `00-${id}-${'b'.repeat(16)}-01-more`,
    `00-${id.toUpperCase()}-${'b'.repeat(16)}-01`,
    `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
    `00-${id}-${'0'.repeat(16)}-01`,
    `ff-${id}-${'b'.repeat(16)}-01`,
  ]) {
    assert.ok(!start({ parent }).includes(id), parent);
    assert.match(start({ parent }), /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/, 'not sampled');
  }
  assert.equal(start({ traceOf: 'grand run_1' }).slice(0, 35), start({ traceOf: 'grand run_1' }).slice(0, 35));
  assert.notEqual(start({ traceOf: 'grand run_1' }).slice(0, 35), start({ traceOf: 'grand run_2' }).slice(0, 35));
  assert.notEqual(start({}).slice(0, 35), start({}).slice(0, 35));
  await tracer.close();
});

const textsOf = (person: object): string[] =>
  Object.entries(person).flatMap(([field, value]) =>
    ['first_name', 'last_name', 'firstName', 'lastName', 'email', 'phone'].includes(field) && String(value).length > 3
      ? [String(value)]
      : [],
  );
