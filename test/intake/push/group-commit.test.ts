import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type GroupCommitLimits,
  groupCommitLimits,
  openGroupCommit,
} from '../../../src/core/intake/push/group-commit.ts';
import type { NewEvent, StoreResult } from '../../../src/core/intake/push/ports.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import type { EndpointId, IntegrationName } from '../../../src/terms.ts';

const event = (eventId: string, bytes = 10): NewEvent => ({
  integration: 'lisbon-grand' as IntegrationName,
  endpointId: 'whk_1' as EndpointId,
  secretNo: 1,
  eventId,
  event: 'guest.updated',
  occurredAt: 0,

  rawBody: Buffer.alloc(bytes),
});

/** A store that answers on command and records the batches. */
function heldStore() {
  const batches: string[][] = [];
  const held: ((result: 'store' | Error) => void)[] = [];
  const insert = (events: readonly NewEvent[]): Promise<StoreResult[]> => {
    batches.push(events.map(({ eventId }) => eventId));
    return new Promise((resolve, reject) =>
      held.push((result) => (result === 'store' ? resolve(events.map(() => ({ kind: 'stored' }))) : reject(result))),
    );
  };
  const next = async (result: 'store' | Error = 'store') => {
    while (held.length === 0) await new Promise(setImmediate);
    held.shift()?.(result);
  };
  return { batches, insert, next };
}

const open = (
  store: { insert: (events: readonly NewEvent[]) => Promise<StoreResult[]> },
  limits: Partial<GroupCommitLimits> = {},
  clock = systemClock,
) => openGroupCommit({ clock, insert: store.insert }, { ...groupCommitLimits, ...limits });

test('waiting requests share the next insert; a single request does not wait', async () => {
  const store = heldStore();
  const commits = open(store);
  const first = commits.append(event('1'));
  while (store.batches.length === 0) await new Promise(setImmediate);
  const others = ['2', '3', '4'].map((id) => commits.append(event(id)));
  await store.next();
  assert.deepEqual(await first, { kind: 'stored' });
  await store.next();
  assert.deepEqual(await Promise.all(others), [{ kind: 'stored' }, { kind: 'stored' }, { kind: 'stored' }]);
  assert.deepEqual(store.batches, [['1'], ['2', '3', '4']]);
  commits.close();
});

test('no answer comes before its insert is done', async () => {
  const store = heldStore();
  const commits = open(store);
  let answered = false;
  const one = commits.append(event('1')).then(() => {
    answered = true;
  });
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
  assert.equal(answered, false);
  await store.next();
  await one;
  commits.close();
});

test('batches are bounded in number and in bytes, and one large event is still stored', async () => {
  const store = heldStore();
  const commits = open(store, { maxBatch: 2, maxBatchBytes: 100 });
  const all = [event('1', 10), event('2', 10), event('3', 60), event('4', 60), event('5', 500)].map((e) =>
    commits.append(e),
  );
  for (let i = 0; i < 4; i++) await store.next();
  await Promise.all(all);
  assert.deepEqual(store.batches, [['1', '2'], ['3'], ['4'], ['5']]);
  commits.close();
});

test('while a batch is flushed the next is written; one at a time, and not too many', async () => {
  const steps: string[] = [];
  const held = new Map<string, { written: () => void; committed: () => void }>();
  const insert = (events: readonly NewEvent[], written: () => void): Promise<StoreResult[]> => {
    const [name = ''] = events.map(({ eventId }) => eventId);
    steps.push(`write ${name}`);
    return new Promise((resolve) =>
      held.set(name, { written, committed: () => resolve(events.map(() => ({ kind: 'stored' }))) }),
    );
  };
  const turn = async () => {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  };
  const commits = openGroupCommit(
    { clock: systemClock, insert },
    { ...groupCommitLimits, maxBatch: 1, maxUnderWay: 2 },
  );
  const answers = ['1', '2', '3'].map((id) => commits.append(event(id)).then(() => steps.push(`answer ${id}`)));
  await turn();
  assert.deepEqual(steps, ['write 1'], 'the second waits until the first is written');
  held.get('1')?.written();
  await turn();
  assert.deepEqual(steps, ['write 1', 'write 2']);
  held.get('2')?.written();
  await turn();
  assert.deepEqual(steps, ['write 1', 'write 2'], 'two are under way');
  held.get('2')?.committed();
  await turn();
  assert.deepEqual(steps, ['write 1', 'write 2', 'answer 2', 'write 3']);
  held.get('3')?.committed();
  held.get('1')?.committed();
  await Promise.all(answers);
  await commits.flushed();
  commits.close();
});

test('a batch that fails refuses its own requests, not those behind it', async () => {
  const store = heldStore();
  const commits = open(store, { maxBatch: 1 });
  const first = commits.append(event('1'));
  const second = commits.append(event('2'));
  await store.next(new Error('gone'));
  await store.next();
  assert.deepEqual(await first, { kind: 'unavailable', reason: 'store_unreachable' });
  assert.deepEqual(await second, { kind: 'stored' });
  commits.close();
});

test('a hanging store leads to 503 after the deadline, and those events are not stored later', async () => {
  const store = heldStore();
  let uptimeMs = 0;
  const commits = open(store, { deadlineMs: 20 }, { ...systemClock, uptimeMs: () => uptimeMs });
  const first = commits.append(event('1'));
  while (store.batches.length === 0) await new Promise(setImmediate);
  const second = commits.append(event('2'));
  uptimeMs = 20;
  assert.deepEqual(await first, { kind: 'unavailable', reason: 'store_slow' });
  assert.deepEqual(await second, { kind: 'unavailable', reason: 'store_slow' });
  const third = commits.append(event('3'));
  await store.next();
  await store.next();
  assert.deepEqual(await third, { kind: 'stored' });
  assert.deepEqual(store.batches, [['1'], ['3']]);
  commits.close();
});

test('requests beyond the waiting limits are refused at once', async () => {
  const store = heldStore();
  const commits = open(store, { maxWaiting: 2, maxWaitingBytes: 100 });
  const taken = [commits.append(event('1', 40)), commits.append(event('2', 40))];
  assert.deepEqual(await commits.append(event('3')), { kind: 'unavailable', reason: 'backlog_full' });
  await store.next();
  await Promise.all(taken);
  assert.deepEqual(await commits.append(event('4', 101)), { kind: 'unavailable', reason: 'backlog_full' });
  commits.close();
});

test('flushed waits for every received event', async () => {
  const store = heldStore();
  const commits = open(store, { maxBatch: 1 });
  const answers: string[] = [];
  for (const id of ['1', '2']) void commits.append(event(id)).then(() => answers.push(id));
  const flushed = commits.flushed().then(() => answers.push('flushed'));
  await store.next();
  await store.next();
  await flushed;
  assert.deepEqual(answers, ['1', '2', 'flushed']);
  commits.close();
});
