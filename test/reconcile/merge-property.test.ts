import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { merge, type Views } from '../../src/reconcile/merge.ts';
import { saysOf } from '../../src/reconcile/says.ts';
import { accept } from '../../src/reconcile/view.ts';
import type { Json } from '../../src/terms.ts';
import { type Message, type Story, story, type Truth, untrue, visible } from './model-partner.ts';

function take(views: Views, { source, at, data }: Message, seq: number, absent: Story['absent']): Views {
  const silence = source === 'pull' ? 'clear' : absent;
  const statement = saysOf(withoutEmpty(data), data);
  return { ...views, [source]: accept(views[source], statement, [at, seq], { silence, lists: 'replace' }) };
}

const withoutEmpty = (data: Message['data']): object =>
  Object.fromEntries(
    Object.entries(data)
      .filter(([, value]) => value !== null)
      .map(([field, value]) => [
        field,
        Array.isArray(value) ? value.map((item) => withoutEmpty(item as Message['data'])) : value,
      ]),
  );

/** Messages of one moment have one place in the sequence, however often they are repeated. */
const seqOf = ({ source, at }: Message): number => (source === 'pull' ? 2 : 1) * at;

test('every merged value was true at some moment, and the last poll makes the record the true state', () => {
  fc.assert(
    fc.property(story, ({ states, messages, shown, absent }) => {
      let views: Views = {};
      for (const message of messages) {
        views = take(views, message, seqOf(message), absent);
        assert.deepEqual(untrue(merge(views).draft, states), []);
      }
      assert.deepEqual(ordered(merge(views).draft), ordered(visible(states.at(-1) as Truth, shown)));
    }),
    { numRuns: 1_000 },
  );
});

test('the merged record is the same for every order of arrival', () => {
  fc.assert(
    fc.property(story, fc.infiniteStream(fc.nat()), ({ messages, absent }, places) => {
      const other = messages
        .map((message) => ({ message, place: places.next().value as number }))
        .sort((a, b) => a.place - b.place)
        .map(({ message }) => message);
      const end = (order: readonly Message[]) =>
        ordered(merge(order.reduce((views, one) => take(views, one, seqOf(one), absent), {} as Views)).draft);
      assert.deepEqual(end(other), end(messages));
    }),
    { numRuns: 1_000 },
  );
});

const ordered = (record: { readonly [field: string]: Json }): Json =>
  Object.fromEntries(
    Object.entries(record)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([field, value]) => [
        field,
        Array.isArray(value) ? value.map((item) => ordered(item as { [field: string]: Json })) : value,
      ]),
  );
