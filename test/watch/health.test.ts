import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HealthFacts, judgeHealth, type LaneFacts } from '../../src/watch/health.ts';

const well: HealthFacts = {
  pulls: true,
  pausedBy: undefined,
  refusedCredentials: undefined,
  circuit: undefined,
  askedToWait: false,
  hasData: true,
  lastRuns: [{ sync: 'stay', state: 'complete', errorCode: null }],
  waitingRuns: [],
  lanes: [],
  openDeadLetters: 0,
  refusals: undefined,
  stream: undefined,
  alerts: [],
};
const lane: LaneFacts = {
  destination: 'crm',
  paused: false,
  waiting: 0,
  retrying: 0,
  lastFailure: null,
  circuitOpen: undefined,
  deliveredSince: false,
  lateMs: 0,
  usualMs: undefined,
};
const judge = (facts: Partial<HealthFacts>) => judgeHealth({ ...well, ...facts });
const judgeLane = (facts: Partial<LaneFacts>) => judge({ lanes: [{ ...lane, ...facts }] });

test('a brand is healthy when no check finds anything', () => {
  assert.deepEqual(judge({}), { state: 'healthy', findings: [] });
  assert.equal(judgeLane({ waiting: 40, lateMs: 800 }).state, 'healthy');
});

test('a destination that fails for everything is failing, with its answer and the backlog', () => {
  const { state, findings } = judgeLane({ waiting: 100, retrying: 90, lastFailure: 'The destination answered 503' });
  assert.equal(state, 'failing');
  assert.equal(findings[0]?.message, 'crm is failing: The destination answered 503. 100 changes are waiting.');
});

test('an open circuit of a destination is failing, even before anything is retried', () => {
  const { state, findings } = judgeLane({ waiting: 1, circuitOpen: 'It answered 503.' });
  assert.equal(state, 'failing');
  assert.equal(findings[0]?.message, 'The circuit to crm is open: It answered 503. 1 change is waiting.');
});

test('single retries beside successes need attention, but the destination is not failing', () => {
  assert.equal(judgeLane({ waiting: 9, retrying: 5, deliveredSince: true }).state, 'attention');
  assert.equal(judgeLane({ waiting: 1, retrying: 1 }).state, 'attention');
});

test('a backlog is compared with what is usual for the brand', () => {
  const tenMinutes = 600_000;
  assert.equal(judgeLane({ waiting: 3, lateMs: tenMinutes }).state, 'attention');
  assert.equal(judgeLane({ waiting: 3, lateMs: tenMinutes, usualMs: 240_000 }).state, 'healthy');
  assert.equal(judgeLane({ waiting: 3, lateMs: 4 * tenMinutes, usualMs: 240_000 }).state, 'attention');
});

test('open circuits, refused credentials and failed runs of any sync are never green', () => {
  assert.equal(judge({ circuit: { api: 'pms', failures: 5, lastFailure: '503' } }).state, 'failing');
  assert.equal(judge({ refusedCredentials: { message: null } }).state, 'auth_failed');
  const runs = [
    { sync: 'stay', state: 'complete', errorCode: null },
    { sync: 'pre_stay', state: 'failed', errorCode: 'pull.not_json' },
  ];
  assert.deepEqual(judge({ lastRuns: runs }).findings, [
    { check: 'runs', state: 'failing', message: 'The last pre_stay run failed (pull.not_json).' },
  ]);
});

test('a run that waits for the partner is not green; one that keeps to our own rate is', () => {
  for (const waiting of ['breaker', 'backoff', 'retry_after']) {
    assert.equal(judge({ waitingRuns: [{ sync: 'stay', waiting }] }).state, 'attention', waiting);
  }
  assert.equal(judge({ waitingRuns: [{ sync: 'stay', waiting: 'rate' }] }).state, 'healthy');
});

test('a paused brand still shows its failures, the most severe first', () => {
  const { state, findings } = judge({
    pausedBy: { kind: 'person', name: 'Ada' },
    openDeadLetters: 2,
    lanes: [{ ...lane, waiting: 5, retrying: 5 }],
  });
  assert.equal(state, 'failing');
  assert.deepEqual(
    findings.map((one) => one.state),
    ['failing', 'attention', 'paused'],
  );
});

test('a brand without any data yet is new, not healthy', () => {
  assert.equal(judge({ hasData: false, lastRuns: [] }).state, 'new');
  assert.equal(judge({ hasData: false, pulls: false, lastRuns: [] }).findings[0]?.message, 'No event has arrived yet.');
});

test('a paused destination is reported while changes wait for it', () => {
  assert.equal(judgeLane({ paused: true, waiting: 4, retrying: 4 }).state, 'paused');
  assert.equal(judgeLane({ paused: true }).state, 'healthy');
});

test('after a complete run a brand is not failing any more, though the alert of the failed one is still open', () => {
  const alerts = [{ kind: 'run_failed', severity: 'critical', message: 'The stay run failed.' }] as const;
  const { state, findings } = judge({ alerts });
  assert.equal(state, 'attention');
  assert.match(findings[0]?.message ?? '', /^The stay run failed\. The cause is gone/);
  const failed = [{ sync: 'stay', state: 'failed', errorCode: 'pull.forbidden' }];
  assert.equal(judge({ alerts, lastRuns: failed }).state, 'failing');
});
