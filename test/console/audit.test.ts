import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditText, phrases } from '../../console/src/parts/actions.ts';
import { openApi } from '../../scripts/openapi-doc.ts';

const row = (action: string, target: object = {}, integration: string | null = null, status: number | null = 200) =>
  auditText({ action, target: target as never, integration, status });

test('the audit speaks in sentences', () => {
  assert.equal(
    row('reservations.timeline', { integration: 'grand', id: 'R1', limit: 500 }, 'grand'),
    'opened the reservation R1 of grand',
  );
  assert.equal(row('integrations.pause', { integration: 'grand' }, 'grand'), 'paused grand');
  assert.equal(
    row('integrations.run', { integration: 'grand', sync: 'stay' }, 'grand'),
    'started a run of grand (sync: stay)',
  );
  assert.equal(
    row('dead_letters.replay', { id: '12', under: 'today' }, 'grand'),
    'replayed the dead letter 12 (under: today) of grand',
  );
  assert.equal(row('guests.search', { q: 'hmac:71d97af0' }, 'grand'), 'searched guests of grand');
  assert.equal(row('privacy.erase', {}, null), 'erased a guest');
  assert.equal(row('cases.check', { connector: 'desk' }), 'mapped the kept samples of desk');
  assert.equal(row('secrets.put', { name: 'crm-key' }, null, 403), 'set the secret crm-key, which was refused (403)');
});

test('every operation that the audit records has a sentence', () => {
  const { paths } = openApi() as unknown as {
    paths: Record<string, Record<string, { operationId?: string; description?: string }>>;
  };
  // Questions that only have a body, and are not recorded.
  const asks = ['documents.validate', 'map.suggest', 'map.import', 'map.assign', 'session.oidc'];
  const recorded = Object.values(paths).flatMap((methods) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      method !== 'get' && operationId !== undefined && !asks.includes(operationId) ? [operationId] : [],
    ),
  );
  assert.ok(recorded.length > 30, 'the description names the operations');
  assert.deepEqual(
    recorded.filter((id) => !phrases.has(id)),
    [],
  );
});
