import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { openDirectory } from '../../../src/core/intake/push/directory.ts';
import { mintSecret } from '../../../src/core/intake/push/mint.ts';
import type { Endpoint } from '../../../src/core/intake/push/ports.ts';
import { type Pool, transaction } from '../../../src/core/store/db/pool.ts';
import {
  issueEndpoint,
  loadEndpoints,
  retireEndpoint,
  rotateSecret,
} from '../../../src/core/store/events/endpoints.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import type { EndpointId, IntegrationName } from '../../../src/terms.ts';
import {
  eventBody,
  migratedPool,
  minter,
  openSealer,
  post,
  type Service,
  startIntake,
} from '../../intake/push/support.ts';

let pool: Pool;
let end: () => Promise<void>;
describe('endpoints', () => {
  before(async () => {
    ({ pool, end } = await migratedPool());
  });
  after(() => end());
  beforeEach(() => pool.query('truncate endpoints, endpoint_secrets, events cascade'));

  const issue = (name = 'lisbon-grand') => transaction(pool, (tx) => issueEndpoint(tx, name, openSealer, minter));
  const rotate = (overlapMs: number, secret = mintSecret()) =>
    transaction(pool, (tx) => rotateSecret(tx, 'lisbon-grand', overlapMs, openSealer, secret));

  test('issued once; shown again without the secret', async () => {
    const first = await issue();
    assert.match(first.secret ?? '', /^whsec_/);
    const { secret: _, ...rest } = first;
    assert.deepEqual(await issue(), rest);
    assert.notEqual(first.endpointId, first.sandboxId);
  });

  test('concurrent calls issue one endpoint with one secret', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => issue()));
    assert.equal(new Set(all.map(({ endpointId }) => endpointId)).size, 1);
    assert.equal(all.filter(({ secret }) => secret !== undefined).length, 1);
  });

  test('secrets are stored encrypted, each bound to its row', async () => {
    await issue();
    const { rows } = await pool.query<{ sealed: Buffer; endpoint_id: string }>(
      'select sealed, endpoint_id from endpoint_secrets',
    );
    assert.ok(rows[0]?.sealed.toString().startsWith(`endpoint ${rows[0].endpoint_id} 1|`));
  });

  test('a secret sealed with another key is skipped; the others work', async () => {
    const issued = await issue();
    await rotate(3_600_000);
    const half = {
      ...openSealer,
      open: (sealed: Uint8Array, to: string) => (to.endsWith(' 1') ? undefined : openSealer.open(sealed, to)),
    };
    const [endpoint] = await loadEndpoints(pool, half, [issued.endpointId]);
    assert.deepEqual(
      endpoint?.secrets.map(({ secretNo }) => secretNo),
      [2],
    );
  });

  test('a retired endpoint stays retired, and the next one is new', async () => {
    const first = await issue();
    assert.equal(await transaction(pool, (tx) => retireEndpoint(tx, 'lisbon-grand')), first.endpointId);
    assert.equal(await transaction(pool, (tx) => retireEndpoint(tx, 'lisbon-grand')), undefined);
    const second = await issue();
    assert.notEqual(second.endpointId, first.endpointId);
    assert.notEqual(second.sandboxId, first.sandboxId);
    const states = (await loadEndpoints(pool, openSealer, [first.endpointId, second.endpointId])).map(
      ({ endpointId, retired }) => [endpointId, retired],
    );
    assert.deepEqual(
      new Map(states as [string, boolean][]),
      new Map([
        [first.endpointId, true],
        [second.endpointId, false],
      ]),
    );
  });

  test('without an endpoint there is nothing to rotate', async () => {
    assert.equal(await rotate(0), undefined);
  });

  let count = 0;
  const send = (service: Service, secret: string) =>
    post({ ...service, secret }, eventBody({ event_id: `rot-${++count}` }));

  test('rotation: both secrets are valid during the overlap on every node, then the old one expires', async () => {
    const one = await startIntake({ pool });
    const two = await startIntake({ pool });
    try {
      const old = one.secret;
      const at = (service: Service) => ({ ...service, endpointId: one.endpointId });
      assert.equal((await send(at(two), old)).status, 202);
      const rotated = await rotate(3_600_000);
      const fresh = rotated?.secret ?? '';
      for (const service of [at(one), at(two)]) {
        assert.equal((await send(service, fresh)).status, 202, 'the node knew only the old secret');
        assert.equal((await send(service, old)).status, 202);
      }
      await rotate(0);
      for (const service of [at(one), at(two)]) {
        assert.equal((await send(service, old)).status, 401, 'revoked, although this node still caches it');
        assert.equal((await send(service, fresh)).status, 401);
      }
      const { rows } = await pool.query('select count(*)::int as n from endpoint_secrets');
      assert.deepEqual(rows, [{ n: 3 }]);
    } finally {
      await one.stop();
      await two.stop();
    }
  });

  test('an endpoint works on every node the moment it is issued', async () => {
    const service = await startIntake({ pool });
    try {
      await transaction(pool, (tx) => retireEndpoint(tx, 'lisbon-grand'));
      const again = await issue();
      const target = { ...service, endpointId: again.endpointId, secret: again.secret ?? '' };
      assert.equal((await send(target, again.secret ?? '')).status, 202);
    } finally {
      await service.stop();
    }
  });

  const known = (endpointId: string): Endpoint => ({
    endpointId: endpointId as EndpointId,
    integration: 'lisbon-grand' as IntegrationName,
    sandbox: false,
    retired: false,
    secrets: [],
  });

  test('unknown ids are looked up together; known ones are not looked up', async () => {
    const queries: string[][] = [];
    const directory = openDirectory({
      clock: systemClock,
      load: async (ids) => {
        queries.push([...ids]);
        return ids.filter((id) => id === 'whk_known0000').map(known);
      },
    });
    assert.equal((await directory.endpoint('whk_known0000', 0))?.endpointId, 'whk_known0000');
    assert.ok(!(directory.endpoint('whk_known0000', 0) instanceof Promise), 'from memory');
    const guesses = Array.from({ length: 300 }, (_, i) => directory.endpoint(`whk_guess${i}`, 0));
    assert.deepEqual(new Set(await Promise.all(guesses)), new Set([undefined]));
    assert.ok(queries.length <= 4, `${queries.length} queries`);
    assert.equal(await directory.endpoint('not an id', 0), undefined);
    assert.equal(queries.flat().includes('not an id'), false);
  });

  test('a store that does not answer is an error, not an unknown endpoint', async () => {
    const directory = openDirectory({ clock: systemClock, load: () => Promise.reject(new Error('gone')) });
    await assert.rejects(async () => directory.endpoint('whk_whatever0', 0), /gone/);
  });

  test('without the store, known and unknown endpoints get 503', async () => {
    const service = await startIntake({ pool, ports: { loadEndpoints: () => Promise.reject(new Error('gone')) } });
    try {
      assert.equal((await send(service, service.secret)).status, 503);
    } finally {
      await service.stop();
    }
  });
});
