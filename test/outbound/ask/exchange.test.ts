import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outline } from '../../../src/core/outbound/ask/exchange.ts';
import { fortnight } from '../../intake/pull/support/asking.ts';
import { sync } from '../../intake/pull/support/runtime.ts';
import { setUpPulls } from '../../intake/pull/support/set-up.ts';

const { runtime, partnerOf } = setUpPulls();

test('a run keeps its last request as sent, without credentials, and the outline of the answer', async () => {
  const partner = await partnerOf(() => ({ status: 404, json: { error: 'Ana Reis is not here', code: 4711 } }));
  const connector = {
    pull: {
      request: {
        method: 'POST',
        path: '/list',
        query: { from: '{window.from}', to: '{window.to}' },
        headers: { 'X-Version': '2' },
        body: { hotel: '{brand_id}' },
      },
    },
  };
  const pull = {
    auth: { type: 'bearer', token: 'top-secret' },
    body: { account: 'hush-hush' },
    query: { app: 'app secret' },
  };
  const ports = runtime.ports({ integration: 'shown', baseUrl: partner.url, connector, pull });
  const { request, runId } = await sync(ports, 'shown', fortnight);
  assert.ok(request);
  const { url, headers, body, status, answer, method } = request;
  assert.match(url, /\/list\?from=2026-03-01&to=2026-03-07&.*app=\*\*\*$/);
  assert.deepEqual([method, status], ['POST', 404]);
  assert.deepEqual([headers['X-Version'], headers.Authorization], ['2', '***']);
  assert.deepEqual(JSON.parse(body ?? ''), { hotel: 'LIS01', account: '***' });
  assert.equal(answer, '{"error":"… is not …","code":…}');
  assert.doesNotMatch(JSON.stringify(request), /secret|hush|Ana/);
  const { rows } = await runtime.pool.query('select last_request from runs where run_id = $1', [runId]);
  assert.deepEqual(rows[0].last_request, request);
});

test('the outline of an answer has names and no values, also where it is cut off', () => {
  const cases = {
    '{"name":"Ana","n":[1,-2.5],"ok":true,"x":null}': '{"name":"…","n":[…,…],"ok":true,"x":null}',
    '{"name":"An\\"a", "last":"Rei': '{"name":"…", "last":"…"',
    '<Guest id="7"><Name>Ana</Name><Last>Rei': '<Guest id="…"><Name>…</Name><Last>…',
    '<Guest name="Ana Re': '<Guest name="…"',
    '[error] Ana Reis 912': '[…] … … …',
    '{"ana@mail.example":1,"912345678":2,"Ana Reis":3,"line_2":4}': '{"…":…,"…":…,"…":…,"line_2":…}',
    '<!-- Ana Reis --><Guest name=Ana 912345678>': '<…><Guest name="…" …>',
    'Ana Reis': '… (8 bytes of text)',
    '': '',
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(outline(Buffer.from(text)), expected);
  assert.equal(outline(Buffer.from('{"fault":"key of Ana is missing"}'), 403), '{"fault":"key of … is missing"}');
  const quoted = Buffer.from('{"fault":"wrong is not a valid token"}');
  assert.equal(outline(quoted, 401, ['wrong']), '{"fault":"is not a valid token"}');
  assert.equal(outline(Buffer.from('Ana is unknown'), 400), '… is unknown (14 bytes of text)');
});
