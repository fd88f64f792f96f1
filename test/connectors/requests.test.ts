import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { schemas } from '../../src/core/documents/kinds.ts';
import { type IntegrationPull, pullOf } from '../../src/core/documents/pull.ts';
import { paginatorFor } from '../../src/core/intake/pull/page/paginate.ts';
import { listValues } from '../../src/core/intake/pull/request/list-request.ts';
import { openRequest, toWire } from '../../src/core/outbound/ask/request.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { connectorsDir } from './cases.ts';

/**
 * What each connector sends: for the first page of a week, for the page after it, and for one reservation. Those of systems with a simulated
 * vendor (vendors/systems/) are checked there, request by request.
 */

type Requests = {
  readonly [connector: string]: { readonly list: string[]; readonly next: string[]; readonly single?: string[] };
};
const expected = JSON.parse(readFileSync(path.join(import.meta.dirname, 'requests.json'), 'utf8')) as Requests;

function requestsOf(name: string) {
  const connector = schemas.connector.parse(
    parse(readFileSync(path.join(connectorsDir, name, 'connector.yaml'), 'utf8')),
  );
  assert.ok(connector.pull);
  const integration = schemas.integration.parse({
    integration: 'golden',
    connector: name,
    brand_id: 'GOLD',
    timezone: 'Europe/Berlin',
    pull: { base_url: 'https://pms.example', auth: { type: 'none' } },
  });
  const settings = pullOf({
    integration: 'golden' as IntegrationName,
    brandId: 'GOLD',
    timezone: 'Europe/Berlin',
    connector: connector.pull,
    own: integration.pull as IntegrationPull,
    maxBytes: 1_000_000,
  });
  const values = listValues({
    window: { from: '2026-06-01', to: '2026-06-07' },
    timezone: 'Europe/Berlin',
    brandId: 'GOLD',
    sync: 'stay',
    status: 'STATE',
  });
  const paginator = paginatorFor(settings.pagination);
  assert.ok(settings.request !== undefined);
  const list = openRequest(settings.request, settings.base_url, values, paginator.placements(paginator.first));
  const rows = 'page_size' in settings.pagination ? settings.pagination.page_size : 1;
  const body = { Cursor: 'c2', next_cursor: 'c2' };
  const after = paginator.after(paginator.first, { rows, body, headers: {}, url: toWire(list).url });
  assert.ok(after.kind === 'next', JSON.stringify(after));
  const next = openRequest(settings.request, settings.base_url, values, paginator.placements(after.state));
  const single = settings.single && openRequest(settings.single, settings.base_url, { id: 'R 1', brand_id: 'GOLD' });
  return { list: told(list), next: told(next), ...(single && { single: told(single) }) };
}

/** The request as sent, in readable form: method and address, further headers, body. */
function told(request: Parameters<typeof toWire>[0]): string[] {
  const { method, url, headers, body } = toWire(request);
  const own = Object.entries(headers).filter(([name]) => name !== 'accept' && name !== 'content-type');
  return [
    `${method} ${decodeURIComponent(url)}`,
    ...own.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [body]),
  ];
}

const simulated = path.join(import.meta.dirname, 'vendors/systems');
for (const name of Object.keys(expected).filter((one) => !existsSync(path.join(simulated, `${one}.ts`)))) {
  test(`${name} sends the requests that its partner's description defines`, () => {
    assert.deepEqual(requestsOf(name), expected[name]);
  });
}

test('hostaway counts days of changes in UTC: an evening in California is the next day', () => {
  const text = readFileSync(path.join(connectorsDir, 'hostaway', 'connector.yaml'), 'utf8');
  const { pull } = schemas.connector.parse(parse(text));
  const now = Date.parse('2026-05-02T03:00:00Z');
  const window = { from: '2026-05-01', to: '2026-05-01' } as const;
  const values = listValues(
    { window, timezone: 'America/Los_Angeles', brandId: 'GOLD', since: now - 86_400_000, now },
    pull?.request,
  );
  assert.ok(pull?.request);
  const { url } = toWire(openRequest(pull.request, 'https://pms.example', values, []));
  const asked = new URL(url).searchParams;
  assert.deepEqual([asked.get('latestActivityStart'), asked.get('latestActivityEnd')], ['2026-05-01', '2026-05-02']);
});
