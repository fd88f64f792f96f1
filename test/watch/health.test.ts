import assert from 'node:assert/strict';
import { test } from 'node:test';
import { causeOf, causeText } from '../../src/operator/watch/causes.ts';
import { restsOn } from '../../src/operator/watch/conditions/evidence.ts';
import { conditionsOf } from '../../src/operator/watch/conditions.ts';
import { type Facts, type LaneFacts, noFacts } from '../../src/operator/watch/facts.ts';
import { healthFrom } from '../../src/operator/watch/health.ts';

const integration = 'grand';
const lane: LaneFacts = {
  integration,
  destination: 'crm',
  paused: false,
  waiting: 0,
  retrying: 0,
  last_failure: null,
  delivered_since: false,
  late_ms: 0,
};
const judge = (facts: Partial<Facts>) =>
  healthFrom(
    conditionsOf({ ...noFacts, ...facts }).map((one) => ({ ...one, cause: causeText(causeOf(one)) })),
    [],
  );
const evidence: Facts['evidence'][number] = {
  integration,
  pulls: true,
  has_data: true,
  bookings: 353,
  with_email: 347,
  delivered: 353,
  delivers: true,
};
const judgeLane = (facts: Partial<LaneFacts>) => judge({ lanes: [{ ...lane, ...facts }] });

test('a brand is healthy when no check finds anything', () => {
  assert.deepEqual(judge({}), { state: 'healthy', findings: [] });
  assert.equal(judgeLane({ waiting: 40, late_ms: 800 }).state, 'healthy');
});

test('a destination that fails for everything is failing, with its answer and the backlog', () => {
  const { state, findings } = judgeLane({ waiting: 100, retrying: 90, last_failure: 'The destination answered 503' });
  assert.equal(state, 'failing');
  assert.equal(findings[0]?.message, 'crm is failing: The destination answered 503. 100 changes are waiting.');
});

test('a destination that is away is failing, even before anything is retried, and its backlog is no second condition', () => {
  const { state, findings } = judge({
    circuits: [{ name: 'crm', last_failure: 'It answered 503.', refused: false, open_since: new Date() }],
    lanes: [{ ...lane, waiting: 9, late_ms: 3_600_000 }],
  });
  assert.equal(state, 'failing');
  assert.deepEqual(
    findings.map(({ message }) => message),
    ['crm is not available: It answered 503. Its deliveries wait and resume by themselves.'],
  );
});

test('single retries beside successes need attention, but the destination is not failing', () => {
  assert.equal(judgeLane({ waiting: 9, retrying: 5, delivered_since: true }).state, 'attention');
  assert.equal(judgeLane({ waiting: 1, retrying: 1 }).state, 'attention');
});

test('a backlog is compared with what is usual for the brand', () => {
  const tenMinutes = 600_000;
  assert.equal(judgeLane({ waiting: 3, late_ms: tenMinutes }).state, 'attention');
  assert.equal(judgeLane({ waiting: 3, late_ms: tenMinutes, usual_ms: 240_000 }).state, 'healthy');
  assert.equal(judgeLane({ waiting: 3, late_ms: 4 * tenMinutes, usual_ms: 240_000 }).state, 'attention');
});

test('open circuits, refused credentials and failed runs of any sync are never green', () => {
  assert.equal(
    judge({ partnerCircuits: [{ api: 'pms', integrations: [integration], last_failure: '503' }] }).state,
    'failing',
  );
  assert.equal(judge({ authFailures: [{ integration, message: null }] }).state, 'auth_failed');
  const runs = [{ integration, sync: 'pre_stay', state: 'failed', run_id: 'r', error_code: 'pull.not_json' }];
  assert.equal(judge({ runs }).state, 'failing');
});

test('a run that waits for the partner is not green; one that keeps to our own rate is', () => {
  for (const waiting of ['breaker', 'backoff', 'retry_after']) {
    assert.equal(judge({ waitingRuns: [{ integration, sync: 'stay', waiting }] }).state, 'attention', waiting);
  }
  assert.equal(judge({ waitingRuns: [{ integration, sync: 'stay', waiting: 'rate' }] }).state, 'healthy');
});

test('a paused brand still shows its failures, the most severe first', () => {
  const { state, findings } = judge({
    pauses: [{ integration, by: 'Ada' }],
    deadLetters: [{ integration, open: 2, last_hour: 0, usual: 0 }],
    lanes: [{ ...lane, waiting: 5, retrying: 5 }],
  });
  assert.equal(state, 'failing');
  assert.deepEqual(
    findings.map((one) => one.state),
    ['failing', 'attention', 'paused'],
  );
});

test('a brand without any data yet is new, not healthy', () => {
  const first = (more: Partial<Facts['evidence'][number]>) =>
    judge({ evidence: [{ ...evidence, ...more }] }).findings[0]?.message;
  assert.equal(judge({ evidence: [{ ...evidence, has_data: false }] }).state, 'new');
  assert.equal(first({ has_data: false, pulls: false }), 'No event has arrived yet.');
});

test('silence is no evidence: a brand is healthy by what is stored, usable and delivered', () => {
  const of = (more: Partial<Facts['evidence'][number]>) => {
    const { state, findings } = judge({ evidence: [{ ...evidence, ...more }] });
    return [state, ...findings.map(({ message }) => message)];
  };
  assert.deepEqual(of({}), ['healthy']);
  assert.deepEqual(of({ bookings: null }), ['new', 'Nothing is counted yet.']);
  assert.deepEqual(of({ bookings: 0 }), [
    'new',
    'No booking has come yet: nothing that was received or listed contained one.',
  ]);
  assert.deepEqual(of({ delivered: 0 }), ['new', '353 bookings stored, none of them delivered yet.']);
  assert.match(of({ with_email: 0 }).join(), /^attention,None of 353 bookings has an e-mail address/);
  assert.match(of({ delivers: false, delivered: 0 }).join(), /^attention,The brand delivers to nobody.*353 bookings/);
  assert.equal(of({ bookings: 3, with_email: 0 })[0], 'healthy', 'three bookings of an OTA are chance');
  assert.equal(restsOn(evidence), '353 bookings, 98 % with e-mail');
  assert.equal(restsOn({ bookings: 1_000, with_email: 999 }), '1000 bookings, 99 % with e-mail');
  assert.deepEqual([restsOn({ bookings: 0, with_email: 0 }), restsOn({ bookings: null, with_email: 0 })], [null, null]);
});

test('a paused destination is reported while changes wait for it', () => {
  assert.equal(judgeLane({ paused: true, waiting: 4, retrying: 4 }).state, 'paused');
  assert.equal(judgeLane({ paused: true }).state, 'healthy');
  assert.match(
    judgeLane({ paused: true, preview: true }).findings[0]?.message ?? '',
    /in preview: nothing is waiting yet/,
  );
});

test('a lane in preview does not pause a brand whose other lanes flow', () => {
  const preview = { ...lane, destination: 'news', paused: true, preview: true, waiting: 3 };
  const { state, findings } = judge({ lanes: [lane, preview] });
  assert.equal(state, 'healthy');
  assert.match(findings[0]?.message ?? '', /^Deliveries to news are in preview: 3 changes are waiting/);
  assert.equal(judge({ lanes: [preview] }).state, 'paused');
});

test('without a worker nothing waits for another reason', () => {
  const pending = [{ integration, count: 30, oldest_ms: 240_000 }];
  const lanes = [{ ...lane, waiting: 5, late_ms: 240_000 }];
  const dead = judge({ missingRoles: ['worker'], pending, lanes });
  assert.equal(dead.state, 'failing');
  assert.deepEqual(
    dead.findings.map(({ kind }) => kind),
    ['role_missing'],
  );
  assert.match(dead.findings[0]?.message ?? '', /nothing is pulled, processed or delivered/);
  assert.equal(judge({ pending }).findings[0]?.message, '30 events not processed yet, the oldest for 4 minutes.');
  assert.equal(judge({ pending: [{ integration, count: 30, oldest_ms: 59_000 }] }).state, 'healthy');
});

test('refused webhooks count by share and number, also between accepted ones', () => {
  const refused = { integration, count: 60, code: 'push.unauthorized', reason: 'signature_wrong', everAccepted: true };
  const half = (lately: number, acceptedLately: number, since: number) =>
    judge({ refusals: [{ ...refused, lately, acceptedLately, since }] }).state;
  assert.equal(half(17, 3, 0), 'failing', 'most of the last 20');
  assert.equal(half(3, 17, 0), 'attention', 'some of them');
  assert.equal(half(1, 19, 0), 'healthy', 'a single one is no fault of the sender');
  assert.equal(half(0, 20, 0), 'healthy', 'the rotation is complete');
  assert.equal(half(1, 19, 1), 'attention', 'the last one was refused');
  assert.equal(half(3, 17, 3), 'failing', 'none is accepted any more');
  const { findings } = judge({ refusals: [{ ...refused, count: 1_198, lately: 12, acceptedLately: 8, since: 0 }] });
  assert.match(
    findings[0]?.message ?? '',
    /^1198 webhooks were refused in the last 24 hours, 12 of the last 20\. The sig/,
  );
});

test('after a complete run a brand is not failing any more, though the alert of the failed one is still open', () => {
  const alert = {
    kind: 'run_failed',
    subject: 'stay',
    cause: 'pull:grand',
    state: 'failing',
    message: 'It failed.',
  } as const;
  const { state, findings } = healthFrom([], [alert]);
  assert.equal(state, 'attention');
  assert.match(findings[0]?.message ?? '', /^It failed\. The cause is gone/);
  assert.equal(healthFrom([alert], [alert]).state, 'failing');
});

test('refused credentials are said once, not again for each sync that failed by them', () => {
  const run = { integration, state: 'failed', run_id: 'r', error_code: 'pull.auth_failed' };
  const { findings } = judge({
    authFailures: [{ integration, message: 'the partner answered 401' }],
    runs: ['pre_stay', 'stay'].map((sync) => ({ ...run, sync })),
  });
  assert.deepEqual(
    findings.map(({ kind }) => kind),
    ['auth_failed'],
  );
});
