import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import * as claims from '../../console/src/parts/claims.ts';
import { dayOf } from '../../console/src/parts/days.ts';
import { latenciesOf } from '../../console/src/parts/latencies.ts';
import { tickOf } from '../../console/src/parts/ticks.ts';
import { latencyBoundsMs, percentileMs } from '../../src/kit/histogram.ts';
import { destinationState, healthFrom } from '../../src/operator/watch/health.ts';

/**
 * Every positive sentence of the console, each with the case in which it appears and every case in which it must not. A claim without
 * such cases fails the last tests, and so does a tone of success that a page states by itself.
 */
type Said = { readonly tone: string; readonly text: string } | undefined;
interface Case {
  readonly says: RegExp;
  readonly true: Said;
  /** By what is wrong. */
  readonly untrue: Readonly<Record<string, Said>>;
}

const states = { healthy: 2, new: 0, paused: 0, attention: 0, failing: 0, auth_failed: 0 };
const overview = { states, totals: { integrations: 2, open_alerts: 0, bookings: 353 }, broken: [], wrong: 0 };
const checked = {
  state: 'healthy' as const,
  reasons: [] as string[],
  rests_on: '353 bookings, 98 % with e-mail',
  last_delivered_at: new Date().toISOString(),
};
const gone = { kind: 'bookings_unlisted', subject: '', state: 'attention', message: '', cause: 'pull:grand' } as const;
const day = { day: '2031-01-01', events: 5, created: 0, updated: 0, cancelled: 0, examples: [] };
const flow = { events: 9, changes: 8, delivered: 8, dead: 0, complete_runs: 3, failed_runs: 0, refused_events: 0 };
const night = (more: Partial<typeof flow>, entries: object[] = []) =>
  claims.nightOf({ entries: entries as never, flow: { ...flow, ...more } });
const gaps = (more: object) =>
  claims.pushGaps(
    { items: [day], first_event_at: '2031-01-01T00:00:00Z', refused: 0, ...more },
    Date.parse('2031-01-01T12:00:00Z'),
  );
const record = { kind: 'record', id: 'R1' } as never;
const filled = ['guests', 'guests.last_name', 'guests.email'].map((field) => ({ field, filled: 5, of: 5 }));
const delivery = {
  due_at: null,
  held_by: null,
  delivered_version: 3,
  next_version: 4,
  last_version: 3,
  attempt: 0,
  removed: false,
};
const dry = (more: object, counts: object = {}) =>
  claims.dryRun({ day: '2031-01-01', counts: { fetched: 3, dead_lettered: 0, ...counts }, ...more } as never);
const receipt = (more: object) =>
  claims.erased({ state: 'done', completed_at: '2031-01-01T00:00:00Z', notified: [], ...more } as never);
const answered = (status: number, kind: string, events?: object[]) =>
  claims.sandboxAnswer({ would_answer: { status }, outcome: { kind }, events } as never);
const preview = (more: object) =>
  claims.replayWould({ kind: 'ready', record: { id: 'R1' }, diff: [{}], ...more } as never);

const cases: Readonly<Record<keyof typeof claims, Case>> = {
  standing: {
    says: /All well|No problem found/,
    true: claims.standing(overview),
    untrue: {
      'a brand needs attention': claims.standing({ ...overview, states: { ...states, healthy: 1, attention: 1 } }),
      'a brand fails while another is paused': claims.standing({
        ...overview,
        states: { ...states, healthy: 0, failing: 1, paused: 1 },
      }),
      'no worker runs': claims.standing({ ...overview, states: { ...states, healthy: 0, failing: 2 } }),
      'a document cannot be used': claims.standing({ ...overview, broken: [{ document: 'connector x', message: '' }] }),
      'an alert of the service is open': claims.standing({
        ...overview,
        totals: { integrations: 2, open_alerts: 1, bookings: 9 },
      }),
      'something of the service is wrong': claims.standing({ ...overview, wrong: 1 }),
      'no brand is connected': claims.standing({
        ...overview,
        totals: { integrations: 0, open_alerts: 0, bookings: 0 },
      }),
    },
  },
  checksOf: {
    says: /^353 bookings, 98 % with e-mail, last delivery [\d:]+/,
    true: claims.checksOf(checked),
    untrue: {
      'a check failed': claims.checksOf({ ...checked, state: 'attention', reasons: ['1 dead letter is open.'] }),
      'nothing is stored': claims.checksOf({ ...checked, rests_on: null }),
      'nothing was delivered': claims.checksOf({ ...checked, last_delivered_at: null }),
      'no data yet': claims.checksOf({ ...checked, state: 'new', reasons: [] }),
    },
  },
  deliveredOf: {
    says: /Everywhere/,
    true: claims.deliveredOf({ open_dead_letters: 0, held: 0, undelivered: 0, receivers: 2 }),
    untrue: {
      'no destination receives it': claims.deliveredOf({ open_dead_letters: 0, held: 0, undelivered: 0, receivers: 0 }),
      'a destination waits': claims.deliveredOf({ open_dead_letters: 0, held: 0, undelivered: 1, receivers: 2 }),
      'a dead letter is open': claims.deliveredOf({ open_dead_letters: 1, held: 0, undelivered: 0, receivers: 2 }),
      'a change of the partner is held back': claims.deliveredOf({
        open_dead_letters: 0,
        held: 1,
        undelivered: 0,
        receivers: 2,
      }),
    },
  },
  pushGaps: {
    says: /no poll found a change/,
    true: gaps({}),
    untrue: {
      'there never was an event': gaps({ first_event_at: null, items: [] }),
      'an event is missing': gaps({ items: [day, { ...day, updated: 1 }] }),
      'events are refused': gaps({ refused: 172 }),
      'the service runs for three minutes': gaps({ first_event_at: '2031-01-01T11:57:00Z' }),
    },
  },
  stillListed: {
    says: /Every stored reservation/,
    true: claims.stillListed({ bookings: 9, findings: [] }, 0, 1),
    untrue: {
      'no run was complete': claims.stillListed({ bookings: 9, findings: [] }, 0, 0),
      'one is not listed': claims.stillListed({ bookings: 9, findings: [] }, 1, 1),
      'nothing is stored': claims.stillListed({ bookings: 0, findings: [] }, 0, 1),
      'an alert says otherwise': claims.stillListed({ bookings: 9, findings: [gone] }, 0, 1),
    },
  },
  recordsValid: {
    says: /\bvalid\b/,
    true: claims.recordsValid({ records: [record], filled }),
    untrue: {
      'no record has an e-mail address': claims.recordsValid({ records: [record], filled: filled.slice(0, 2) }),
      'no record has a guest': claims.recordsValid({ records: [record], filled: [] }),
    },
  },
  dryRun: {
    says: /3 reservations/,
    true: dry({}),
    untrue: {
      'the pull is incomplete': dry({ error: { code: 'pull.timeout', message: '' } }),
      'there is a warning': dry({ warning: 'The dates are ignored.' }),
      'a record is a dead letter': dry({}, { dead_lettered: 1 }),
      'the partner lists nothing': dry({}, { fetched: 0 }),
    },
  },
  firstEvent: {
    says: /has arrived$/,
    true: claims.firstEvent({ state: 'done', outcome: 'created' }),
    untrue: {
      'it became a dead letter': claims.firstEvent({ state: 'dead', outcome: null }),
      'it is not processed yet': claims.firstEvent({ state: 'pending', outcome: null }),
    },
  },
  noDeadLetters: {
    says: /Nothing has failed/,
    true: claims.noDeadLetters(0),
    untrue: { 'the list is filtered': claims.noDeadLetters(1) },
  },
  hasVersion: {
    says: /Has version 3/,
    true: claims.hasVersion(delivery, 3),
    untrue: {
      'a newer version was not sent': claims.hasVersion(delivery, 4),
      'it waits': claims.hasVersion({ ...delivery, due_at: '2031-01-01T00:00:00Z' }, 3),
      'a dead letter holds it': claims.hasVersion({ ...delivery, held_by: '7' }, 3),
      'the record has left the destination': claims.hasVersion({ ...delivery, removed: true }, 3),
    },
  },
  consentGiven: {
    says: /Consent was given$/,
    true: claims.consentGiven({ consent: 'given', state: 'healthy' }),
    untrue: {
      'it is needed': claims.consentGiven({ consent: 'needed', state: 'new' }),
      'the partner refuses the tokens': claims.consentGiven({ consent: 'given', state: 'auth_failed' }),
    },
  },
  mappingEffect: {
    says: /would change/,
    true: claims.mappingEffect({ records: 9, changed: 0, unchanged: 9, refused: 0, samples: [] } as never),
    untrue: { 'no payload is stored': claims.mappingEffect({ records: 0, changed: 0, refused: 0 } as never) },
  },
  jobDone: {
    says: /^Done$/,
    true: claims.jobDone({ state: 'done', counts: {} }),
    untrue: {
      'some still fail': claims.jobDone({ state: 'done', counts: { still_failing: 1 } }),
      'some are refused': claims.jobDone({ state: 'done', counts: { refused: 1 } }),
      'it was stopped': claims.jobDone({ state: 'stopped', counts: {} }),
    },
  },
  erased: {
    says: /^Erased$/,
    true: receipt({}),
    untrue: {
      'it was not completed': receipt({ completed_at: null }),
      'destinations have not confirmed it': receipt({ state: 'notifying' }),
      'a destination is left to erase by hand': receipt({ notified: [{ not_notified: 1 }] }),
    },
  },
  sandboxAnswer: {
    says: /would answer 202/,
    true: answered(202, 'record'),
    untrue: { 'it would be refused': answered(401, 'none') },
  },
  signatureOf: {
    says: /is valid/,
    true: claims.signatureOf(true),
    untrue: { 'it is wrong': claims.signatureOf(false) },
  },
  replayWould: {
    says: /It would (succeed|be sent again)/,
    true: preview({}),
    untrue: {
      'it would fail again': preview({ kind: 'still_failing' }),
      'a rule drops it': preview({ kind: 'dropped' }),
      'its result is not known': preview({ record: { id: '' } }),
      'a hold keeps it back': claims.replayWould({ kind: 'ready', record: { id: 'R1' }, diff: [{}] } as never, true),
    },
  },
  noneOpen: {
    says: /^No open alerts$/,
    true: claims.noneOpen('alerts', 0),
    untrue: { 'a check found something a moment ago': claims.noneOpen('alerts', 1) },
  },
  nothingToDecide: {
    says: /Nothing to decide/,
    true: claims.nothingToDecide(true),
    untrue: { 'no profiles are kept': claims.nothingToDecide(false) },
  },
  nothingShared: {
    says: /No address or number/,
    true: claims.nothingShared(true),
    untrue: { 'no profiles are kept': claims.nothingShared(false) },
  },
  fieldsMapped: {
    says: /every field/,
    true: claims.fieldsMapped(0),
    untrue: { 'one is not mapped': claims.fieldsMapped(1) },
  },
  nightOf: {
    says: /No incident, no failed run, nothing refused/,
    true: night({}),
    untrue: {
      'nothing was counted': night({ events: 0, complete_runs: 0 }),
      'a run failed': night({ failed_runs: 1 }),
      'events were refused': night({ refused_events: 1 }),
      'a delivery failed for good': night({ dead: 1 }),
      'an incident was open': night({}, [{ kind: 'incident', until: null }]),
      'values were held': night({}, [{ kind: 'hold', until: '2031-01-01T00:00:00Z' }]),
    },
  },
  runDone: {
    says: /^Complete$/,
    true: claims.runDone({ status: 'complete', held: 0, dead_lettered: 0 }),
    untrue: {
      'rows are held': claims.runDone({ status: 'complete', held: 307, dead_lettered: 0 }),
      'rows are dead letters': claims.runDone({ status: 'complete', held: 0, dead_lettered: 24 }),
      'pages are missing': claims.runDone({ status: 'incomplete', held: 0, dead_lettered: 0 }),
    },
  },
  incidentOver: {
    says: /Over after/,
    true: claims.incidentOver('2031-01-01T00:00:00Z', '5 min'),
    untrue: { 'it is open': claims.incidentOver(null, '5 min') },
  },
};

for (const [name, { says, true: good, untrue }] of Object.entries(cases)) {
  test(`${name}: says it when it is true`, () => {
    assert.match(good?.text ?? '', says);
    assert.equal(good?.tone, 'good');
  });
  for (const [wrong, said] of Object.entries(untrue)) {
    test(`${name}: not if ${wrong}`, () => {
      assert.notEqual(said?.tone, 'good', said?.text ?? '');
      // The same sentence may stand there with a warning, if its tone is all that is positive about it.
      if (said?.tone === 'calm' || said?.tone === 'info') assert.doesNotMatch(said.text, says);
    });
  }
}

test('accepted is not valid: an event that would become a dead letter is no success in the sandbox', () => {
  assert.equal(answered(202, 'dead_letter').tone, 'warn');
  assert.equal(answered(202, 'record', [{ outcome: { kind: 'dead_letter' } }]).tone, 'warn');
});

test('a tick: a destination has a version only if it was delivered there, and an outage has its time, words and next try', () => {
  const lane = {
    ...delivery,
    destination: 'crm',
    delivered_at: '2031-01-01T00:00:00Z',
    away_since: null,
    away_said: null,
    next_probe_at: null,
    waits_for: null,
  };
  const tick = (more: object, version = 3, attempts: object[] = [], letter?: object) =>
    tickOf({ ...lane, ...more }, version, attempts as never, letter as never);
  assert.match(tick({}).text, /^has it, /);
  assert.equal(tick({}, 2).text, 'has it', 'an older one was delivered before; its time is not kept');
  const waiting = { delivered_version: 2, next_version: 3, due_at: new Date(Date.now() + 60_000).toISOString() };
  const failed = [{ at: '2031-01-01T10:00:00Z', outcome: 'retry', message: 'It answered 503: maintenance' }];
  for (const said of [
    tick(waiting),
    tick({ ...waiting, attempt: 1 }, 3, failed),
    tick({ ...waiting, away_since: '2031-01-01T10:00:00Z', away_said: 'maintenance', next_probe_at: waiting.due_at }),
    tick({ ...waiting, due_at: null, held_by: '7' }),
    tick({}, 3, [{ at: '2031-01-01T10:00:00Z', outcome: 'skipped', message: 'no consent' }]),
    tick({}, 3, [], { message: 'It answered 422' }),
    tick({ delivered_version: 1, next_version: 4 }),
  ]) {
    assert.notEqual(said.tone, 'good', said.text);
    assert.doesNotMatch(said.text, /has it/);
  }
  assert.match(
    tick({ ...waiting, attempt: 1 }, 3, failed).text,
    /1 attempt failed since .*maintenance.*tried again in/,
  );
  const away = {
    ...waiting,
    away_since: '2031-01-01T10:00:00Z',
    away_said: 'maintenance',
    next_probe_at: waiting.due_at,
  };
  assert.match(tick({ ...waiting, waits_for: 'release' }).text, /in preview until they are released/);
  assert.match(tick(away).text, /takes nothing since .*Last answer: maintenance\. It is tried again in/);
});

test('a day is complete only if nothing of it failed, was refused or is a dead letter', () => {
  const whole = {
    day: '2031-01-01',
    hours: 24,
    pulled_hours: 24,
    events: 40,
    failed_runs: 0,
    refused_events: 0,
    dead_letters: 0,
    unlisted: 0,
  };
  const of = (more: Partial<typeof whole>) =>
    dayOf({ pulls: true, push: true, days: [{ ...whole, ...more }] }, whole.day);
  assert.deepEqual([of({}).pulled, of({}).pushed], ['good', 'good']);
  assert.deepEqual([of({ failed_runs: 8 }).pulled, of({ dead_letters: 3 }).pulled], ['warn', 'warn']);
  assert.deepEqual([of({ unlisted: 151 }).pulled, of({ pulled_hours: 0, failed_runs: 9 }).pulled], ['warn', 'bad']);
  assert.deepEqual([of({ refused_events: 3 }).pushed, of({ refused_events: 1_198 }).pushed], ['warn', 'bad']);
  assert.match(
    of({ refused_events: 1_198, failed_runs: 8 }).text,
    /8 runs failed or incomplete, .*1,198 events refused/,
  );
});

test('what waits counts with its age: survivors alone are not the delivery time', () => {
  const delivered = latencyBoundsMs.map((bound) => (bound === 500 ? 100 : 0));
  const waiting = (ms: number) => latencyBoundsMs.map((bound) => (bound === ms ? 66 : 0));
  const data = { series: [{ latency: delivered }], late_after_ms: 60_000 };
  const sum = (ms: number) => latenciesOf({ ...data, latency_waiting: waiting(ms) });
  assert.ok((percentileMs(sum(300_000), 0.95) ?? 0) > 60_000, '66 wait for minutes');
  assert.ok((percentileMs(sum(10_000), 0.95) ?? 0) < 500, 'what waits for ten seconds may still be in time');
});

test('every claim has a case, and every case can fail', () => {
  assert.deepEqual(Object.keys(cases).sort(), Object.keys(claims).sort());
  for (const [name, { untrue }] of Object.entries(cases)) assert.ok(Object.keys(untrue).length > 0, name);
});

test('Healthy, of a brand and of a destination, comes from the same conditions', () => {
  const finding = { kind: 'deliveries_behind', subject: 'crm', message: '', cause: 'destination:crm' };
  const late = healthFrom([{ ...finding, state: 'attention' }], []);
  const well = healthFrom([], []);
  const unmanned = healthFrom(
    [{ ...finding, kind: 'role_missing', state: 'failing', cause: 'service:worker nodes' }],
    [],
  );
  const stateOf = (name: string, brands: Parameters<typeof destinationState>[2], held: number, delivered = true) =>
    destinationState(name, { paused: false, held, delivered }, brands);
  assert.equal(stateOf('crm', [], 0), 'new', 'no brand feeds it');
  assert.equal(stateOf('crm', [well], 0, false), 'new', 'it has never accepted anything');
  assert.equal(stateOf('crm', [well], 1), 'attention', 'a dead letter holds a record back');
  assert.deepEqual([late.state, stateOf('crm', [well, late], 0)], ['attention', 'attention']);
  assert.deepEqual([well.state, stateOf('crm', [well], 0)], ['healthy', 'healthy']);
  assert.equal(stateOf('lake', [late], 0), 'healthy', 'it is about another one');
  assert.equal(stateOf('crm', [unmanned], 0), 'failing', 'nothing is delivered');
  const preview = healthFrom([{ ...finding, kind: 'deliveries_paused', state: 'paused' }], []);
  assert.deepEqual(
    [stateOf('crm', [well, preview], 0), stateOf('crm', [preview], 0)],
    ['healthy', 'paused'],
    'a brand in preview does not pause the others',
  );
});

/** Statements of one answer of the API, with nothing to compare: a version that was applied, a partner that answered, one delivery. */
const ownTones: Readonly<Record<string, number>> = {
  'editor/applying.tsx': 1,
  'pages/onboard/FirstPull.tsx': 1,
  'pages/hotel/Change.tsx': 1,
  'pages/Ledger.tsx': 1,
  'pages/Run.tsx': 1,
  'pages/overview/Flow.tsx': 2,
  'pages/ConsentCard.tsx': 1,
  // What a partner has shown of each check.
  'pages/links/LinkDetail.tsx': 1,
};

test('no page states success by itself', () => {
  const root = path.join(import.meta.dirname, '../../console/src');
  const found: Record<string, number> = {};
  for (const file of readdirSync(root, { recursive: true }) as string[]) {
    if (!/^(pages|editor|shell)\/.*\.tsx$/.test(file)) continue;
    const count = readFileSync(path.join(root, file), 'utf8').match(
      /['"]good['"]|All well|[Ee]very (check|change|stored|field)|Everywhere|Nothing to decide|No (address or number|open)|All [a-z]+ are/g,
    )?.length;
    if (count) found[file] = count;
  }
  assert.deepEqual(found, ownTones);
});
