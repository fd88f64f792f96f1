import { manyBrands, namedBrands } from './alerts.ts';
import { isNew, ofEvidence } from './conditions/evidence.ts';
import { isUntimely, ofEvents, ofPulls, ofStreams, ofVolumes } from './conditions/feeds.ts';
import { behindMs, clause, counted, type Judged, lateness, leastLateMs } from './conditions/judged.ts';
import type { Condition, Facts, LaneFacts } from './facts.ts';

/** Codes of runs that fail because the partner's API does not work: that it does not answer is a condition already. */
const apiFailures: ReadonlySet<string> = new Set([
  'pull.breaker_open',
  'pull.server_error',
  'pull.timeout',
  'pull.unreachable',
]);

/** The one judge: every condition that the facts show, without the mere effects of another one. */
export function conditionsOf(facts: Facts): Condition[] {
  const causes = withoutEffects(facts);
  const judges = [
    ofService,
    ofPulls,
    ofEvents,
    ofStreams,
    ofRecords,
    ofVolumes,
    ofDeliveries,
    ofComparisons,
    ofEvidence,
  ];
  const conditions = judges.flatMap((judge) => [...judge(causes)]);
  const known = new Set(conditions.map(({ integration }) => integration));
  const fresh = facts.evidence.flatMap((one) => (known.has(one.integration) ? [] : (isNew(one) ?? [])));
  return [...conditions, ...fresh].map((one) => ({ integration: '', subject: '', detail: {}, ...one }));
}

function withoutEffects(facts: Facts): Facts {
  const affected = new Set(facts.partnerCircuits.flatMap(({ integrations }) => integrations));
  const refused = new Set(facts.authFailures.map(({ integration }) => integration));
  const away = new Set<string>([...facts.circuits, ...facts.refusing].map(({ name }) => name));
  const untimely = new Set(facts.refusals.filter(isUntimely).map(({ integration }) => integration));
  const isWorking = !facts.missingRoles.includes('worker');
  return {
    ...facts,
    runs: facts.runs.filter(
      ({ integration, error_code }) =>
        (!affected.has(integration) || !apiFailures.has(error_code ?? '')) &&
        (!refused.has(integration) || error_code !== 'pull.auth_failed'),
    ),
    skews: facts.skews.filter(({ integration }) => !untimely.has(integration)),
    waitingRuns: facts.waitingRuns.filter((run) => !affected.has(run.integration)),
    feeds: facts.feeds.filter(({ feed, integration }) => feed === 'push' || !affected.has(integration)),
    lanes: facts.lanes.filter(({ destination, paused }) => isWorking && (paused || !away.has(destination))),
    pending: isWorking ? facts.pending : [],
  };
}

const withoutRole = {
  worker: 'No worker node is running: nothing is pulled, processed or delivered. Events are accepted and wait.',
  web: 'No web node is running: webhooks are not accepted, and partners must send them again.',
};

function* ofService({
  missingRoles,
  disks,
  stalled,
  nodeClocks,
  broken,
  alertRoutes,
  partners,
}: Facts): Generator<Judged> {
  for (const role of missingRoles) {
    yield { kind: 'role_missing', state: 'failing', subject: role, message: withoutRole[role] };
  }
  for (const { node: subject, message } of disks)
    yield { kind: 'disk_full', state: 'failing', subject, message: `${message} A full disk stops intake.` };
  for (const { node, loops } of stalled) {
    const message = `Node ${node} makes no progress in ${loops.join(', ')}. Check that it reaches the database; restart it if it does.`;
    yield { kind: 'node_stalled', state: 'failing', subject: node, message, detail: { loops: [...loops] } };
  }
  for (const { node, ahead_ms } of nodeClocks) {
    const off = `${Math.round(Math.abs(ahead_ms) / 1000)} seconds ${ahead_ms > 0 ? 'ahead of' : 'behind'}`;
    const message = `The clock of node ${node} is ${off} the database's. Synchronize the clocks of both machines (NTP).`;
    yield { kind: 'clock_skew', state: 'attention', subject: node, message, detail: { ahead_ms } };
  }
  for (const [reason, documents] of Map.groupBy(broken, ({ message }) => message)) {
    const names = documents.map(({ document }) => document).sort();
    if (names.length >= manyBrands) {
      const message = `${names.length} documents cannot be used, the first is the ${names[0]}: ${reason}.`;
      const detail = { documents: names.slice(0, namedBrands) };
      yield { kind: 'document_broken', state: 'failing', subject: reason, message, detail };
      continue;
    }
    for (const name of names) {
      const message = `The ${name} cannot be used: ${reason}.`;
      yield { kind: 'document_broken', state: 'failing', subject: name, message };
    }
  }
  for (const { route, waiting, failure } of alertRoutes) {
    const alerts = waiting === 1 ? '1 alert waits' : `${waiting} alerts wait`;
    const message = `The alert route ${route} does not accept alerts: ${failure ?? 'no answer.'} ${alerts}. Try it with \`innbound alert test ${route}\`.`;
    yield { kind: 'alert_route_failing', state: 'failing', subject: route, message };
  }
  for (const { integration, link_id: subject, partner, is_ready, comments } of partners) {
    const asked = comments > 0 ? [`has written ${counted(comments, 'comment')}`] : [];
    const waits = [...(is_ready ? ['is ready to go live'] : []), ...asked].join(' and ');
    yield {
      // Somebody waits for an answer; nothing is wrong with the brand.
      kind: 'partner_waiting',
      state: 'healthy',
      integration,
      subject,
      message: `${partner} ${waits} on the onboarding page of ${integration}.`,
    };
  }
}

/** New in an hour, and open: what was replayed or dropped is over. */
export const fewestDead = 10;

function* ofRecords({ deadLetters, holds, unusual, cancelled: many }: Facts): Generator<Judged> {
  for (const { integration, sign, message } of unusual) {
    const text = `Unusual: ${message}. Nothing is held back.`;
    yield { kind: 'rows_unusual', state: 'attention', integration, subject: sign, message: text };
  }
  for (const { integration, cancelled, coming, usual } of many) {
    const message = `${cancelled} of ${counted(coming, 'coming booking')} were cancelled within an hour; on average it is ${Number(usual.toFixed(1))}. They count: nothing is held back.`;
    const about = { kind: 'rows_unusual', state: 'attention', integration, subject: 'many cancelled' } as const;
    yield { ...about, message, detail: { cancelled, coming, usual } };
  }
  for (const { integration, id, feed, sign, message, rows, shareBefore, shareNow } of holds) {
    yield {
      kind: 'rows_held',
      state: 'failing',
      integration,
      subject: sign,
      message: `Values of ${counted(rows, 'booking')} are held back. First seen: ${message}. The stored values stay until somebody decides, or the answers are normal again.`,
      detail: { hold_id: id, feed, rows, share_before: shareBefore, share_now: shareNow },
    };
  }
  for (const { integration, last_hour, usual, open } of deadLetters) {
    const about = { kind: 'dead_letters_growing', state: 'attention', integration } as const;
    const are = open === 1 ? '1 dead letter is open.' : `${open} dead letters are open.`;
    if (open >= fewestDead && last_hour >= fewestDead && last_hour >= usual * 3) {
      const message = `${last_hour} new dead letters in an hour instead of the usual ${Number(usual.toFixed(1))}; ${are}`;
      yield { ...about, message, detail: { last_hour, usual, open } };
    } else if (open > 0) yield { ...about, message: are, quiet: true };
  }
}

/** With fewer, the fault may lie with single records; with this many and no success since, it lies with the destination. */
export const fewestToBlame = 3;
/** So much older than usual is not chance. */
export const timesUsual = 3;

export const isDestinationFailing = ({ retrying, delivered_since, paused }: LaneFacts): boolean =>
  !paused && retrying >= fewestToBlame && !delivered_since;

function* ofComparisons({ comparisons }: Facts): Generator<Judged> {
  for (const { integration, destination: subject, reason, counts } of comparisons) {
    const about = { integration, subject } as const;
    const { erased_there: erased, wrongly_there: wrong, behind, changed, missing } = counts;
    if (erased > 0) {
      const message = `${subject} has ${counted(erased, 'record')} with a guest who was erased.`;
      yield { ...about, kind: 'erased_guest_there', state: 'failing', message, detail: { erased } };
    }
    const said = Object.entries({ behind, changed, missing, 'wrongly there': wrong })
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => `${count} ${kind}`);
    if (said.length === 0 && reason === null) continue;
    const found = said.length > 0 ? `differs from what it was sent: ${said.join(', ')}.` : 'could not be compared.';
    const message = `${subject} ${found}${reason === null ? '' : ` The audit is not complete: ${clause(reason)}.`}`;
    yield {
      ...about,
      kind: 'destination_differs',
      state: 'attention',
      message,
      detail: { behind, changed, missing, wrong },
    };
  }
}

function* ofDeliveries({ lanes, circuits, refusing }: Facts): Generator<Judged> {
  const of = { state: 'failing', action: 'try_destination' } as const;
  for (const { name: subject, last_failure, open_since, refused } of circuits) {
    const why = clause(last_failure);
    const about = { ...of, subject, detail: { open_since: open_since.toISOString() } };
    const key = `${subject} refuses our credentials: ${why}. Its deliveries wait until they are corrected.`;
    const away = `${subject} is not available: ${why}. Its deliveries wait and resume by themselves.`;
    if (refused) yield { ...about, kind: 'destination_refusing', message: key };
    else yield { ...about, kind: 'destination_away', message: away };
  }
  for (const { name: subject, records, since, last_failure } of refusing) {
    const message = `${subject} refuses all changes: ${clause(last_failure)}. ${counted(records, 'record')} refused, none accepted; each is a dead letter.`;
    yield { ...of, kind: 'destination_refusing', subject, message, detail: { records, since: since.toISOString() } };
  }
  const failing = new Set(lanes.filter(isDestinationFailing).map(({ destination }) => destination));
  const flowing = new Set(lanes.filter(({ paused }) => !paused).map(({ integration }) => integration));
  for (const lane of lanes) yield* ofLane(lane, failing, flowing);
}

function* ofLane(lane: LaneFacts, failing: ReadonlySet<string>, flowing: ReadonlySet<string>): Generator<Judged> {
  const { integration, destination: subject, waiting, retrying, usual_ms = 0 } = lane;
  const about = { integration, subject, detail: { waiting } };
  const wait = `${counted(waiting, 'change')} ${waiting === 1 ? 'is' : 'are'} waiting.`;
  if (lane.paused) {
    // One lane that waits does not pause a brand whose other lanes flow.
    const state = flowing.has(integration) ? 'healthy' : 'paused';
    const paused = { ...about, kind: 'deliveries_paused', state, quiet: true } as const;
    const until = waiting === 0 ? 'nothing is waiting yet.' : `${wait.slice(0, -1)} until you release them.`;
    if (lane.preview)
      yield { ...paused, message: `Deliveries to ${subject} are in preview: ${until}`, action: 'release' };
    else if (waiting > 0) yield { ...paused, message: `Deliveries to ${subject} are paused in its document; ${wait}` };
    return;
  }
  const why = clause(lane.last_failure);
  const action = 'try_destination';
  if (isDestinationFailing(lane)) {
    const message = `${subject} is failing: ${why}. ${wait}`;
    const detail = { waiting, failure: why };
    yield { ...about, kind: 'destination_failing', state: 'failing', message, detail, action };
    return;
  }
  if (retrying > 0) {
    const message = `${retrying === 1 ? '1 delivery' : `${retrying} deliveries`} to ${subject} being retried: ${why}.`;
    yield { ...about, kind: 'deliveries_retrying', state: 'attention', quiet: true, message, action };
  }
  const late_ms = lane.late_ms ?? 0;
  if (failing.has(subject) || late_ms < Math.max(leastLateMs, usual_ms * timesUsual)) return;
  const message = `Deliveries to ${subject} are ${lateness(late_ms)} behind; ${wait}`;
  const quiet = late_ms < behindMs && { quiet: true as const };
  yield { ...about, kind: 'deliveries_behind', state: 'attention', message, detail: { waiting, late_ms }, ...quiet };
}
