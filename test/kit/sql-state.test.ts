import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isConnectionFailure, isPassing } from '../../src/kit/sql-state.ts';

const coded = (code: string) => Object.assign(new Error('refused'), { code });

test('a server that does not answer or accepts no writes cannot be used now', () => {
  // The driver's deadline has no code. 25006: the former primary after a switchover.
  assert.ok(isConnectionFailure(new Error('Query read timeout')));
  for (const code of ['08006', '57P01', '25006', 'ECONNRESET']) assert.ok(isConnectionFailure(coded(code)), code);
  for (const code of ['57014', '23505', '22P02']) assert.ok(!isConnectionFailure(coded(code)), code);
});

test('locks, slow statements and full disks pass; refused data does not', () => {
  for (const code of ['40001', '40P01', '53100', '53200', '55P03', '57014', '58030', '57P01']) {
    assert.ok(isPassing(coded(code)), code);
  }
  for (const code of ['22P02', '23505', '54000', '42P01', 'XX000']) assert.ok(!isPassing(coded(code)), code);
  assert.ok(!isPassing(new TypeError('a bug')));
});
