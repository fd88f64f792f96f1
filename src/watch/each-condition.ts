import type { Condition, Facts } from './facts.ts';
import { describeFailure, describeRefusals, describeUnread, fewestRefusals, isStreamFailing } from './health.ts';

type Found = Pick<Condition, 'kind' | 'severity' | 'message'> & Partial<Condition>;

/** From this many brands on, the same problem at the same time counts as one cause. */
export const manyBrands = 20;
/** With fewer, a problem that counted as one cause is one of each brand again. */
export const fewBrands = 10;
/** Of a longer list, this many names are kept. */
export const namedBrands = 20;

const fewestDead = 10;
const fewestUnlisted = 10;
const behindMs = 15 * 60_000;
const hours = (ms: number): string => `${(ms / 3_600_000).toFixed(1)} hours`;
const counted = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`;

/** Every condition by itself, before those with one cause are joined. */
export function eachCondition(facts: Facts): Condition[] {
  const found = [
    ...ofPulls(facts),
    ...ofIntake(facts),
    ...ofVolumes(facts),
    ...ofStreams(facts),
    ...ofNodes(facts),
    ...ofDeliveries(facts),
    ...ofSetup(facts),
  ];
  return found.map((one) => ({ integration: '', subject: '', detail: {}, ...one }));
}

function* ofPulls({ runs, partnerCircuits, authFailures, unlisted }: Facts): Generator<Found> {
  for (const { integration, sync, state, run_id, error_code } of runs) {
    const detail = { run_id, ...(error_code !== null && { code: error_code }) };
    const why = error_code === null ? '' : ` (${error_code})`;
    const about = { integration, subject: sync, detail };
    if (state === 'failed') {
      yield { ...about, kind: 'run_failed', severity: 'critical', message: `The last ${sync} run failed${why}.` };
    }
    if (state === 'incomplete') {
      const message = `The last ${sync} run is incomplete${why}.`;
      yield { ...about, kind: 'run_incomplete', severity: 'warning', message };
    }
  }
  for (const { api, integrations, last_failure } of partnerCircuits) {
    const [only = ''] = integrations.length === 1 ? integrations : [];
    const message = `The circuit of ${api} is open after repeated failures (${last_failure ?? 'no answer'}). ${counted(integrations.length, 'brand')} cannot pull; requests resume when it answers again.`;
    const detail = { brands: integrations.length, integrations: integrations.slice(0, namedBrands) };
    const shared = integrations.length > 1 && { brands: integrations };
    yield { kind: 'breaker_open', severity: 'critical', integration: only, subject: api, message, detail, ...shared };
  }
  for (const { integration, message: reason } of authFailures) {
    const why = reason === null ? '' : `: ${reason}`;
    const message = `The partner refuses the credentials; pulling is paused${why}.`;
    yield { kind: 'auth_failed', severity: 'critical', integration, message };
  }
  for (const { integration, count } of unlisted) {
    if (count < fewestUnlisted) continue;
    const message = `${count} reservations disappeared from the partner's lists in a day, without a cancellation.`;
    yield { kind: 'bookings_unlisted', severity: 'warning', integration, message, detail: { count } };
  }
}

function* ofIntake({ feeds, refusals, deadLetters, skews, holds, unusual }: Facts): Generator<Found> {
  for (const { integration, sign, message } of unusual) {
    const text = `Unusual: ${message}. Nothing is held back.`;
    yield { kind: 'rows_unusual', severity: 'warning', integration, subject: sign, message: text, detail: {} };
  }
  for (const { integration, id, feed, sign, message, rows, shareBefore, shareNow } of holds) {
    yield {
      kind: 'rows_held',
      severity: 'critical',
      integration,
      subject: sign,
      message: `Values of ${counted(rows, 'booking')} are held back: ${message}. The stored values stay until somebody decides, or the answers are normal again.`,
      detail: { hold_id: id, feed, rows, share_before: shareBefore, share_now: shareNow },
    };
  }
  for (const { integration, feed, judgement } of feeds) {
    if (!judgement.silent) continue;
    const expected = Math.round(judgement.expected ?? 0);
    const what = feed === 'push' ? 'No event' : 'No run has found a reservation';
    const message = `${what} for ${hours(judgement.silentMs)}; about ${expected} were expected.`;
    const detail = { expected, silent_ms: judgement.silentMs };
    yield { kind: 'feed_silent', severity: 'critical', integration, subject: feed, message, detail };
  }
  for (const { integration, ...refused } of refusals) {
    if (refused.count < fewestRefusals) continue;
    const detail = { code: refused.code, reason: refused.reason, count: refused.count };
    yield { kind: 'webhooks_refused', severity: 'critical', integration, message: describeRefusals(refused), detail };
  }
  for (const { integration, last_hour, usual, open } of deadLetters) {
    if (last_hour < fewestDead || last_hour < usual * 3) continue;
    const message = `${last_hour} dead letters in an hour instead of the usual ${Number(usual.toFixed(1))}; ${open} are open.`;
    yield {
      kind: 'dead_letters_growing',
      severity: 'warning',
      integration,
      message,
      detail: { last_hour, usual, open },
    };
  }
  for (const { integration, refused, ahead, taken } of skews) {
    if (refused >= 3) {
      const message = `${refused} events were refused because their timestamp was more than five minutes off: the sender's clock is wrong.`;
      yield { kind: 'clock_skew', severity: 'critical', integration, message, detail: { refused } };
    } else if (ahead >= 3 && ahead * 2 > taken) {
      const message = `${ahead} of ${taken} events of the last hour had a time in the future: the sender's clock is ahead.`;
      yield { kind: 'clock_skew', severity: 'warning', integration, message, detail: { ahead, taken } };
    }
  }
}

function* ofVolumes({ volumes }: Facts): Generator<Found> {
  for (const { integration, measure, now, usual, listsChanges, history } of volumes) {
    const detail = { measure, now, usual, history: [...history] };
    const about = { severity: 'warning' as const, integration, detail };
    const [few, many] = [Math.round(now), Math.round(usual)];
    if (measure === 'events') {
      const message = `${counted(few, 'event')} in 24 hours; this weekday usually has about ${many}.`;
      yield { ...about, kind: 'feed_low', subject: 'push', message };
    } else if (measure === 'rows') {
      const what = listsChanges ? 'The runs of 24 hours brought' : 'A run brings';
      const message = `${what} ${counted(few, 'reservation')}; on this weekday it is usually about ${many}.`;
      yield { ...about, kind: 'feed_low', subject: 'pull', message };
    } else if (measure === 'run_seconds') {
      const message = `Runs take ${few} seconds on average; on this weekday it is usually ${many}.`;
      yield { ...about, kind: 'runs_slow', message };
    } else {
      const percent = (share: number) => `${Number((share * 100).toFixed(1))} %`;
      const message = `${percent(now)} of the rows and events of 24 hours became dead letters; usually it is ${percent(usual)}.`;
      yield { ...about, kind: 'dead_letter_share', message };
    }
  }
}

/** Partners keep events for a week: two days are left to act. */
const streamBehindMs = 5 * 24 * 3_600_000;

function* ofStreams({ streams }: Facts): Generator<Found> {
  for (const { account: integration, failures, failure, said, refused, behind_ms, has_gap } of streams) {
    if (integration.startsWith('destination:')) {
      if (!isStreamFailing({ failures, failure }) || failure === null) continue;
      const subject = integration.slice('destination:'.length);
      const message = `Who unsubscribes at ${subject} cannot be read (${failure}): other destinations do not learn of it.`;
      yield { kind: 'feedback_failing', severity: 'warning', subject, message, detail: { code: failure, failures } };
      continue;
    }
    if (isStreamFailing({ failures, failure }) && failure !== null) {
      const message = describeFailure({ failure, said });
      yield { kind: 'stream_failing', severity: 'critical', integration, message, detail: { code: failure, failures } };
    }
    if (refused !== null && refused.count >= fewestRefusals) {
      const about = { integration, subject: 'stream', message: describeUnread(refused) };
      yield { kind: 'webhooks_refused', severity: 'critical', ...about, detail: { reason: refused.reason } };
    }
    if (has_gap) {
      const message = 'Events of the stream are missing: the partner no longer had those since our last connection.';
      yield { kind: 'stream_gap', severity: 'critical', integration, message };
    }
    if (behind_ms === null || behind_ms < streamBehindMs) continue;
    const message = `The stream was last read to its end ${hours(behind_ms)} ago. The partner keeps events for a limited time, usually a week; later ones are lost.`;
    yield { kind: 'stream_behind', severity: 'critical', integration, message, detail: { behind_ms } };
  }
}

function* ofNodes({ stalled, nodeClocks }: Facts): Generator<Found> {
  for (const { node, loops } of stalled) {
    const message = `Node ${node} makes no progress in ${loops.join(', ')}. Check that it reaches the database; restart it if it does.`;
    yield { kind: 'node_stalled', severity: 'critical', subject: node, message, detail: { loops: [...loops] } };
  }
  for (const { node, ahead_ms } of nodeClocks) {
    const off = `${Math.round(Math.abs(ahead_ms) / 1000)} seconds ${ahead_ms > 0 ? 'ahead of' : 'behind'}`;
    const message = `The clock of node ${node} is ${off} the database's. Synchronize the clocks of both machines (NTP).`;
    yield { kind: 'clock_skew', severity: 'warning', subject: node, message, detail: { ahead_ms } };
  }
}

function* ofDeliveries({ lanes, failing, circuits }: Facts): Generator<Found> {
  for (const { integration, destination, waiting, late_ms } of lanes) {
    if (late_ms === null || late_ms < behindMs) continue;
    const message = `${waiting} ${waiting === 1 ? 'record waits' : 'records wait'} for ${destination}, the longest for ${hours(late_ms)}.`;
    const detail = { waiting, late_ms };
    yield { kind: 'deliveries_behind', severity: 'warning', integration, subject: destination, message, detail };
  }
  for (const { destination, integrations, waiting, last_failure } of failing) {
    const message = `${destination} is failing: ${last_failure ?? 'no answer'}. ${waiting} changes of ${counted(integrations, 'brand')} are waiting.`;
    const detail = { waiting, integrations };
    yield { kind: 'destination_failing', severity: 'critical', subject: destination, message, detail };
  }
  for (const { name: destination, last_failure, open_since } of circuits) {
    const message = `${destination} is not available: ${last_failure.replace(/\.$/, '')}. Its work waits, uses no tries and resumes by itself.`;
    const detail = { open_since: open_since.toISOString() };
    yield { kind: 'destination_away', severity: 'critical', subject: destination, message, detail };
  }
}

function* ofSetup({ broken, alertRoutes }: Facts): Generator<Found> {
  for (const [reason, documents] of Map.groupBy(broken, ({ message }) => message)) {
    const names = documents.map(({ document }) => document).sort();
    if (names.length >= manyBrands) {
      const message = `${names.length} documents cannot be used, the first is the ${names[0]}: ${reason}.`;
      const detail = { documents: names.slice(0, namedBrands) };
      yield { kind: 'document_broken', severity: 'critical', subject: reason, message, detail };
      continue;
    }
    for (const name of names) {
      const message = `The ${name} cannot be used: ${reason}.`;
      yield { kind: 'document_broken', severity: 'critical', subject: name, message };
    }
  }
  for (const { route, waiting, failure } of alertRoutes) {
    const alerts = waiting === 1 ? '1 alert waits' : `${waiting} alerts wait`;
    const message = `The alert route ${route} does not accept alerts: ${failure ?? 'no answer.'} ${alerts}. Try it with \`innbound alert test ${route}\`.`;
    yield { kind: 'alert_route_failing', severity: 'critical', subject: route, message };
  }
}
