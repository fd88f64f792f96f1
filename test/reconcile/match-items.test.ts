import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchItems } from '../../src/core/reconcile/match-items.ts';
import { merge } from '../../src/core/reconcile/merge.ts';
import { accountsAfter } from './told.ts';

const room = (key: string | undefined, room_type = 'Double', start_date = '2026-12-01') => ({
  key,
  looks: [[{ room_type, start_date, end_date: '2026-12-04' }]],
});

test('the partner’s own id distinguishes rooms that look alike', () => {
  assert.deepEqual(matchItems('rooms', [room('1'), room('2')], [room('2'), room('1')]), [1, 0]);
});

test('another id is another room, even if it looks the same', () => {
  assert.deepEqual([...matchItems('rooms', [room('1'), room('2')], [room('2'), room('3')])], [1, undefined]);
});

test('ids of two numbering systems are not compared: dates, type and position decide', () => {
  const found = matchItems('rooms', [room('881'), room('882', 'Suite')], [room('b', 'Suite'), room('a')]);
  assert.deepEqual(found, [1, 0]);
});

test('events that replace all charges by others keep nothing of the old ones', () => {
  const minibar = { code: 'BAR', description: 'Minibar' };
  const content = (key: string, more: object) => ({
    values: {},
    lists: { charges: [{ key, values: { ...minibar, ...more } }] },
  });
  const scope = { fields: 'partial', lists: 'full' } as const;
  const chargesAfter = (key: string) => {
    const first = { source: 'push', at: [1, 0], content: content('10', { amount: '5', quantity: 2 }), scope } as const;
    const second = { source: 'push', at: [2, 0], content: content(key, { amount: '7' }), scope } as const;
    return merge(accountsAfter([first, second])).draft.charges;
  };
  assert.deepEqual(chargesAfter('11'), [{ ...minibar, amount: '7' }]);
  assert.deepEqual(chargesAfter('10'), [{ ...minibar, amount: '7', quantity: 2 }]);
});

test('a charge without an id is still found by code and description', () => {
  const charge = (key: string | undefined, code: string) => ({ key, looks: [[{ code, description: code }]] });
  assert.deepEqual(
    matchItems(
      'charges',
      [charge('c1', 'ROOM'), charge(undefined, 'SPA')],
      [charge(undefined, 'SPA'), charge('c1', 'ROOM')],
    ),
    [1, 0],
  );
});
