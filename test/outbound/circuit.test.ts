import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterFailure, type Circuit, type FailedCall } from '../../src/core/outbound/circuit.ts';

const healthy: Circuit = { state: 'closed', failures: 0, away: false, refused: false, suspect: null, probes: 0 };
const settings = { failuresToOpen: 3, firstMs: 10, mostMs: 35 };
const of = (...records: string[]): FailedCall => ({ message: 'It answered 503.', unreachable: false, records });
const unreachable: FailedCall = { message: 'It cannot be reached.', unreachable: true, records: [] };
const fail = (circuit: Circuit, ...calls: FailedCall[]) =>
  calls.reduce<ReturnType<typeof afterFailure>>((before, call) => afterFailure(before, call, settings), {
    ...circuit,
    cooldownMs: null,
  });

test('a record that fails alone never opens the circuit', () => {
  const after = fail(healthy, of('a'), of('a'), of('a'), of('a'));
  assert.deepEqual([after.state, after.away, after.failures], ['closed', false, 4]);
});

test('failures of several records, or without a connection, open it', () => {
  for (const calls of [
    [of('a'), of('b'), of('a')],
    [of('a'), of('a', 'b'), of('a')],
    [unreachable, unreachable, unreachable],
  ]) {
    assert.equal(fail(healthy, ...calls.slice(0, 2)).state, 'closed');
    assert.deepEqual([fail(healthy, ...calls).state, fail(healthy, ...calls).cooldownMs], ['open', 10]);
  }
});

test('each failed probe doubles the cooldown, up to the longest', () => {
  const open: Circuit = { state: 'probing', failures: 3, away: true, refused: false, suspect: 'a', probes: 1 };
  assert.equal(fail(open, of('a')).cooldownMs, 20);
  assert.equal(fail({ ...open, probes: 2 }, of('a')).cooldownMs, 35);
  assert.equal(fail({ ...open, probes: 5_000 }, of('a')).cooldownMs, 35);
});

test('after an answer, what was known of earlier failures does not count', () => {
  const before: Circuit = { state: 'closed', failures: 0, away: true, refused: true, suspect: 'a', probes: 9 };
  assert.deepEqual(fail(before, of('b'), of('b'), of('b')), {
    state: 'closed',
    failures: 3,
    away: false,
    refused: false,
    suspect: 'b',
    probes: 0,
    cooldownMs: null,
  });
});
