import { recordText } from '../src/canonical/encode.ts';
import { decide, state } from '../src/pipeline.ts';
import { countBatch, countUnchanged } from '../src/reconcile/accidents/guard.ts';
import type { Step } from '../src/reconcile/accidents/signs.ts';
import type { Json } from '../src/terms.ts';
import { brand } from '../test/simulation/brands.ts';

/** `guard` shows what the guard costs per record: of the shape path, and of a page without news. */
export async function run(): Promise<void> {
  const own = brand('faro');
  const arrival = { mode: 'pull', effectiveAt: Date.now(), cause: 'run', causeId: 'run_1' } as const;
  const rows = Array.from({ length: pageRows }, (_, n) => reservation(n));
  const statements = () => rows.map((value) => state(own, { key: String(value.id), value }, arrival));
  const stored = { version: 1, event: 'created', moment: [0, 0], text: '' } as const;
  const steps = statements().map((statement, index): Step => {
    const decision = decide(own, undefined, statement);
    if (decision.kind !== 'change') throw new TypeError(decision.kind);
    const diff = [
      { path: 'total_amount', before: 100 + index, after: 150 + index * 2 },
      { path: 'guests[0].email', before: 'a@mail.example', after: `g${index}@mail.example` },
    ];
    return { statement, stored, decision: { ...decision, event: 'updated', diff } };
  });
  const guarded = () => ({ limits: { rows: 5, share: 0.5 }, memory: new Map() });
  const counting = guarded();
  const shape = best(() => void statements().map(({ record }) => record && recordText(record)));
  const guard = best(() => void countBatch(counting, steps, { unchanged: 0 }));
  console.log(`shape path ${shape.toFixed(2)} µs a record; guard ${guard.toFixed(2)} µs a changed record`);
  console.log(`${((100 * guard) / shape).toFixed(1)} % of the shape path where every record changes`);
  const text = JSON.stringify({ reservations: rows });
  const quiet = guarded();
  const parse = best(() => void JSON.parse(text));
  const unchanged = best(() => countUnchanged(quiet, 'run_1', pageRows));
  const share = ((100 * unchanged) / parse).toFixed(2);
  console.log(`a page without news: guard ${unchanged.toFixed(4)} µs a row, ${share} % of parsing its JSON alone`);
}

const pageRows = 200;

/** Microseconds a row, the best of some rounds. */
function best(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 60; round++) {
    const startedAt = performance.now();
    for (let i = 0; i < 10; i++) work();
    least = Math.min(least, ((performance.now() - startedAt) * 1_000) / 10 / pageRows);
  }
  return least;
}

function reservation(n: number): { readonly [key: string]: Json } {
  return {
    id: `R${n}`,
    confirmation_number: `C-${n}`,
    check_in: `2031-05-${10 + (n % 15)}`,
    check_out: `2031-05-${12 + (n % 15)}`,
    status: 'confirmed',
    total_amount: 150 + n * 2,
    currency: 'EUR',
    channel: 'web',
    guests: [
      { first_name: 'ANA', last_name: 'PRADO', email: ` G${n}@Mail.example`, phone: '912 345 678', nationality: 'PT' },
    ],
    rooms: [{ room_type: 'DBL', board: 'BB', adults: 2, children: 0 }],
    charges: [{ code: 'ROOM', description: 'Room', amount: 150 + n * 2, quantity: 1 }],
  };
}
