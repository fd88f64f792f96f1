import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Booking, bookings } from './support/partner.ts';
import { sync } from './support/runtime.ts';
import { setUpPulls } from './support/set-up.ts';

/**
 * Under any mixture of accidents, at any moment between ordinary changes: no stored value is lost that the partner did not take back, and
 * once its answers are right again, the records are what they would be without any accident.
 */
const { runtime, partnerOf } = setUpPulls();

const week = { from: '2026-03-01', to: '2026-03-07' };
const count = 30;
type Guests = { [field: string]: unknown }[];

const guestsOf = (one: Booking, change: (guest: Guests[number]) => object) =>
  ((one.guests ?? []) as Guests).map(change);
const accidents: { readonly [name: string]: (one: Booking) => object } = {
  'rename email': (one) => ({ ...one, guests: guestsOf(one, ({ email, ...rest }) => ({ ...rest, mail: email })) }),
  'lose guests': ({ guests: _, ...rest }) => rest,
  'null guests': (one) => ({ ...one, guests: null }),
  'lose currency': ({ currency: _, ...rest }) => rest,
  'null number': (one) => ({ ...one, confirmation_number: null }),
  cents: (one) => ({ ...one, total_amount: Number(one.total_amount) * 100 }),
  'day late': (one) => ({ ...one, check_in: later(one.check_in), check_out: later(one.check_out) }),
  cancelled: (one) => ({ ...one, status: 'cancelled' }),
  'one name': (one) => ({ ...one, guests: guestsOf(one, (guest) => ({ ...guest, last_name: 'Mustermann' })) }),
  masked: (one) => ({ ...one, guests: guestsOf(one, (guest) => ({ ...guest, first_name: 'A***' })) }),
};
const later = (date: string) => new Date(Date.parse(date) + 86_400_000).toISOString().slice(0, 10);

type Step =
  | { readonly kind: 'ordinary'; readonly at: number; readonly amount: number }
  | { readonly kind: 'accident'; readonly names: readonly string[]; readonly skips: number }
  | { readonly kind: 'right' };
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('ordinary' as const),
      at: fc.nat(count - 1),
      amount: fc.integer({ min: 1, max: 999 }),
    }),
    fc.record({
      kind: fc.constant('accident' as const),
      names: fc.uniqueArray(fc.constantFrom(...Object.keys(accidents)), { minLength: 1, maxLength: 3 }),
      skips: fc.nat(8),
    }),
    fc.record({ kind: fc.constant('right' as const) }),
  ),
  { minLength: 1, maxLength: 6 },
);

let brands = 0;

for (const push of [false, true]) {
  test(`accidents destroy nothing, and leave nothing behind (${push ? 'with' : 'without'} events)`, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (story) => {
        const integration = `story-${++brands}`;
        let right = bookings(count, week.from, 5);
        let shown: unknown[] = right;
        const partner = await partnerOf(() => ({ json: { reservations: shown } }));
        const guard = { limits: { rows: 5, share: 0.5 }, memory: new Map() };
        const connector = { pull: { pagination: { type: 'none' } } };
        const documents = { integration, baseUrl: partner.url, push, connector, guard };
        const pull = () => sync(runtime.ports(documents), integration, week);
        const stored = async () => (await runtime.stored(integration)).map(({ data }) => data);
        await pull();
        for (const step of story as Step[]) {
          if (step.kind === 'ordinary') {
            right = right.map((one, n) => (n === step.at ? { ...one, total_amount: step.amount } : one));
          }
          const wrong = step.kind === 'accident' ? step.names : [];
          const isSkipped = (n: number) => step.kind === 'accident' && n < step.skips;
          shown = right.map((one, n) =>
            isSkipped(n) ? one : wrong.reduce((was, name) => accidents[name]?.(was as Booking) ?? was, one as object),
          );
          await pull();
          for (const [n, data] of (await stored()).entries()) {
            const { currency, status, check_in, confirmation_number, guests } = right[n] as Booking;
            const kept = { currency, status, check_in, confirmation_number, guests };
            const own = Object.fromEntries(Object.keys(kept).map((field) => [field, data[field]]));
            assert.deepEqual(own, kept, `${integration}: ${JSON.stringify(step)}`);
          }
        }
        shown = right;
        await pull();
        const expected = right.map(({ total_amount }) => total_amount);
        assert.deepEqual(
          (await stored()).map(({ total_amount }) => total_amount),
          expected,
        );
        const { rows } = await runtime.pool.query(
          `select from dead_letters where integration = $1 and state = 'open'`,
          [integration],
        );
        assert.equal(rows.length, 0, 'nothing stays held');
      }),
      { numRuns: 12 },
    );
  });
}
