import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notificationText, receiptText } from '../../src/cli/erase.ts';

const receipt = {
  erasure_id: 'era_1',
  requested_at: new Date('2026-03-01T10:00:00Z'),
  requested_by: 'Ada',
  completed_at: new Date('2026-03-01T10:00:05Z'),
  stopped_by: null,
  removed: { records: 2, events: 1 },
  notified: [],
} as const;
const crm = {
  destination: 'crm',
  integration: 'grand',
  records: 2,
  confirmed: 2,
  passed_over: 0,
  dropped: 0,
  not_notified: 0,
  given_up: 0,
  confirmed_at: '2026-03-01T10:00:07Z',
};

test('only an erasure that was completed is a proof', () => {
  assert.match(receiptText({ ...receipt, state: 'done' }), /^Erased 2026-03-01T10:00:05\.000Z\. \(requested .* by Ada/);
  assert.match(receiptText({ ...receipt, state: 'notifying' }), /^Erased .* Not all destinations have confirmed it\./);
  const begun = { ...receipt, completed_at: null };
  for (const state of ['stopped', 'interrupted'] as const) {
    assert.match(receiptText({ ...begun, state, stopped_by: 'Bob' }), /^Not completed: .*erase the guest again/);
  }
  assert.match(receiptText({ ...begun, state: 'running' }), /^The erasure is still running/);
  assert.match(receiptText({ ...receipt, removed: { records: 0 }, state: 'done' }), /^Nothing was stored/);
});

test('a destination whose notification was dropped has confirmed nothing', () => {
  assert.match(notificationText(crm), /^crm confirmed 2 records of grand, the last/);
  const open = { ...crm, confirmed: 1, confirmed_at: null };
  assert.match(notificationText(open), /^crm is being notified .* 1 confirmed so far/);
  assert.match(notificationText({ ...open, dropped: 1 }), /^crm may still hold the guest: an operator dropped/);
  assert.match(
    notificationText({ ...open, records: 0, not_notified: 3 }),
    /^crm may still hold the guest: it received 3 records of grand and is no longer/,
  );
});
