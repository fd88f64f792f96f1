import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { errors } from '../../src/errors.ts';
import type { Json } from '../../src/terms.ts';
import { openPullRuntime, sync } from '../intake/pull/support/runtime.ts';
import { type Dice, fuzz, garbled, mutated, strayErrors } from './fuzz.ts';

/** A partner that answers with damaged pages: every run ends with a known status and a known code. */

const row = (id: string): Json => ({
  id,
  confirmation_number: `C-${id}`,
  check_in: '2026-12-01',
  check_out: '2026-12-04',
  status: 'confirmed',
  total_amount: 310.5,
  currency: 'EUR',
  guests: [{ guest_id: `g-${id}`, first_name: 'Ana', last_name: 'Prado', email: `ana.${id}@mail.example` }],
  rooms: [{ room_type: 'DBL', board: 'HB', from: '2026-12-01', to: '2026-12-04' }],
  charges: [{ code: 'ROOM', amount: '310.50', currency: 'EUR', date: '2026-12-01' }],
});

test('no answer of a partner ends or stops a run without a code', { timeout: 900_000 }, async (t) => {
  const stray = strayErrors();
  let answer: (dice: Dice) => { status: number; headers: Record<string, string>; body: string };
  let dice: Dice;
  const server = createServer((_request, response) => {
    const { status, headers, body } = answer(dice);
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const runtime = await openPullRuntime();
  t.after(async () => {
    server.close();
    server.closeAllConnections();
    await runtime.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ends = new Map<string, number>();
  await fuzz(60, async (rolled, seed) => {
    dice = rolled;
    let pages = 0;
    answer = () => {
      pages += 1;
      if (pages > 6)
        return { status: 200, headers: { 'content-type': 'application/json' }, body: '{"reservations":[]}' };
      const page: Json = { reservations: [row(`R-${dice.below(30)}`), row(`R-${dice.below(30)}`)], total: 2 };
      const text = JSON.stringify(mutated(dice, page));
      return {
        status: dice.chance(0.1) ? dice.one([201, 204, 400, 404, 418, 429, 500, 503]) : 200,
        headers: {
          'content-type': dice.chance(0.1)
            ? dice.one(['text/html', 'application/xml', '', 'a/b; charset=utf-16'])
            : 'application/json',
          ...(dice.chance(0.1) && { 'retry-after': dice.one(['0', '-5', '9'.repeat(40), 'soon', '1']) }),
          ...(dice.chance(0.05) && { 'content-encoding': dice.one(['constructor', 'gzip', 'br', 'identity']) }),
          ...(dice.chance(0.05) && { location: 'http://127.0.0.1:1/' }),
        },
        body: dice.chance(0.2) ? garbled(dice, text) : text,
      };
    };
    const name = `brand-${seed}`;
    const ports = runtime.ports({ integration: name, baseUrl });
    const result = await sync(ports, name, { from: '2026-12-01', to: '2026-12-03' });
    assert.ok(['complete', 'incomplete', 'failed'].includes(result.state), JSON.stringify(result));
    const { code } = result.error ?? {};
    assert.ok(code === undefined || Object.hasOwn(errors, code), `${code} is not a code of ours`);
    assert.notEqual(code, 'operate.unexpected');
    // `said` is payload: stored apart, audited, erased.
    const { said: _, ...error } = result.error ?? {};
    assert.ok(!JSON.stringify({ ...result, error }).includes('mail.example'), 'no result quotes a guest');
    assert.deepEqual(stray, []);
    ends.set(result.state, (ends.get(result.state) ?? 0) + 1);
  });
  assert.ok(ends.size > 1, `all runs ended alike: ${JSON.stringify([...ends])}`);
});
