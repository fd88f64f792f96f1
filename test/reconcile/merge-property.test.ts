import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Claims } from '../../src/core/reconcile/claim.ts';
import { contentOf } from '../../src/core/reconcile/content.ts';
import { merge } from '../../src/core/reconcile/merge.ts';
import type { Json } from '../../src/terms.ts';
import { type Message, type Story, story, type Truth, untrue, visible } from './model-partner.ts';
import { accountsOf, withTold } from './told.ts';

function take(claims: Claims, { source, at, data }: Message, seq: number, absent: Story['absent']): Claims {
  const fields = source === 'pull' || absent === 'clear' ? 'full' : 'partial';
  const content = contentOf(withoutEmpty(data), data);
  return withTold(claims, { source, at: [at, seq], content, scope: { fields, lists: 'full' } });
}

const draftOf = (claims: Claims) => merge(accountsOf(claims)).draft;

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
      let claims: Claims = {};
      for (const message of messages) {
        claims = take(claims, message, seqOf(message), absent);
        assert.deepEqual(untrue(draftOf(claims), states), []);
      }
      assert.deepEqual(ordered(draftOf(claims)), ordered(visible(states.at(-1) as Truth, shown)));
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
        ordered(draftOf(order.reduce((claims, one) => take(claims, one, seqOf(one), absent), {} as Claims)));
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
