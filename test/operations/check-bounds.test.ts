import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Window } from '../../src/core/intake/pull/window/windows.ts';
import { excludedBounds } from '../../src/operator/operations/dry-run.ts';

const stays = [
  { id: 'short', check_in: '2026-03-04', check_out: '2026-03-05' },
  { id: 'long', check_in: '2026-03-05', check_out: '2026-03-12' },
];
const day = { from: '2026-03-05', to: '2026-03-05' };

/** A partner that filters by one day of the stay, with or without the ends of the range. */
function partner(by: 'check_in' | 'check_out', excludes: { start?: boolean; end?: boolean }, all = stays) {
  const requests: Window[] = [];
  const list = async ({ from, to }: Window) => {
    requests.push({ from, to });
    return all.filter((stay) => {
      const on = stay[by];
      return (excludes.start ? on > from : on >= from) && (excludes.end ? on < to : on <= to);
    });
  };
  return { list, requests };
}

test('a dry run finds which bounds a partner leaves out, from an empty day or from known stays', async () => {
  for (const by of ['check_in', 'check_out'] as const) {
    for (const [excludes, says] of [
      [{ start: true }, /window\.before/],
      [{ end: true }, /window\.after/],
      [{ start: true, end: true }, /window\.before.*window\.after/],
    ] as const) {
      for (const [asked, known] of [
        [day, []],
        [{ from: '2026-03-01', to: '2026-03-14' }, stays],
      ] as const) {
        const { list, requests } = partner(by, excludes);
        // By departure, the days around the fifth show no long stay.
        const around = by === 'check_out' && known.length === 0 ? { from: '2026-03-12', to: '2026-03-12' } : asked;
        assert.match((await excludedBounds(list, around, known)) ?? '', says, `${by} ${JSON.stringify(excludes)}`);
        assert.ok(requests.length <= 9);
      }
    }
  }
});

test('short stays show it too; one night leaves open which of two bounds it is', async () => {
  const whole = { from: '2026-03-01', to: '2026-03-14' };
  const found = async (by: 'check_in' | 'check_out', excludes: { start?: boolean; end?: boolean }, nights: number) => {
    const stay = { id: 'one', check_in: '2026-03-05', check_out: `2026-03-0${5 + nights}` };
    return (await excludedBounds(partner(by, excludes, [stay]).list, whole, [stay])) ?? '';
  };
  for (const by of ['check_in', 'check_out'] as const) {
    for (const nights of [0, 1, 2, 3]) {
      assert.equal(await found(by, {}, nights), '');
      const open = nights === 1 ? /first or the last.*one night/ : undefined;
      const [start, end] = by === 'check_in' ? [/window\.before/, open] : [open, /window\.after/];
      assert.match(await found(by, { start: true }, nights), start ?? /window\.before/);
      assert.match(await found(by, { end: true }, nights), end ?? /window\.after/);
      assert.match(await found(by, { start: true, end: true }, nights), /first day.*last day/);
    }
  }
});

test('a partner that includes both days, or lists nothing, gets no warning', async () => {
  for (const by of ['check_in', 'check_out'] as const) {
    assert.equal(await excludedBounds(partner(by, {}).list, day, []), undefined);
    assert.equal(
      await excludedBounds(partner(by, {}).list, { from: '2026-03-01', to: '2026-03-14' }, stays),
      undefined,
    );
  }
  assert.equal(await excludedBounds(async () => [], day, []), undefined);
  assert.equal(await excludedBounds(async () => undefined, day, []), undefined);
});
