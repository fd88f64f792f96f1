import type { Arriving, Decision, LockedRecord } from '../src/reconcile/decision.ts';
import type { RawRecord } from '../src/shape/config.ts';
import { contentOf } from '../src/store/records/content.ts';
import { countUnchanged, Guard, type Step } from '../src/store/records/guard.ts';
import type { Json } from '../src/terms.ts';
import { brand } from '../test/simulation/brands.ts';

/** `guard` shows what the guard costs per record: of the shape path, and of a page without news. */
export async function run(): Promise<void> {
  const { path, target } = brand('faro');
  const arrival = { mode: 'pull', effectiveAt: Date.now(), cause: 'run', causeId: 'run_1' } as const;
  const rows = Array.from({ length: pageRows }, (_, n) => reservation(n));
  const prepare = () => rows.map((value) => path.prepare({ key: String(value.id), value } as RawRecord, arrival));
  const prepared = prepare();
  const steps = prepared.map((one, index): Step => {
    if (one.kind !== 'record') throw new TypeError(one.kind);
    const content = contentOf(one.incoming.record);
    const diff = [
      { path: 'total_amount', before: 100 + index, after: 150 + index * 2 },
      { path: 'guests[0].email', before: 'a@mail.example', after: `g${index}@mail.example` },
    ];
    const decision = { kind: 'change', event: 'updated', diff, notes: [], content } as unknown as Decision;
    const arriving = { index, id: one.incoming.id, arrival } as unknown as Arriving;
    return { arriving, before: { version: 1 } as LockedRecord, decision };
  });
  const guarded = () => ({ ...target, guard: { limits: { rows: 5, share: 0.5 }, memory: new Map() } });
  const counting = guarded();
  const shape = best(() => void prepare().map((one) => one.kind === 'record' && contentOf(one.incoming.record)));
  const guard = best(() => void Guard.of(counting, prepared)?.count(steps, { unchanged: 0 }));
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
