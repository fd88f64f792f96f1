import { type ErrorCode, errors } from '../errors.ts';

/**
 * The health of one brand, judged from facts. One place, so that the console, the CLI and the API say the same. Pure: the facts
 * are read now, from the tables that the work itself is done with, not from alerts or counters that are updated later.
 */
export type HealthState = (typeof healthStates)[number];

/** From harmless to worst; a brand has the worst state of its findings. */
export const healthStates = ['healthy', 'new', 'paused', 'attention', 'failing', 'auth_failed'] as const;

export const checks = [
  'data',
  'credentials',
  'circuit',
  'runs',
  'events',
  'deliveries',
  'backlog',
  'dead_letters',
  'alerts',
] as const;
type Check = (typeof checks)[number];

export interface Finding {
  readonly check: Check;
  readonly state: HealthState;
  /** For an operator; no guest data. */
  readonly message: string;
  /** What an operator can do at once about what waits. */
  readonly action?: Action;
  /** The destination of the action. */
  readonly destination?: string;
}

export const actions = ['resume', 'test_and_resume', 'try_now', 'try_destination'] as const;
type Action = (typeof actions)[number];

export interface Health {
  readonly state: HealthState;
  readonly findings: readonly Finding[];
}

export interface HealthFacts {
  readonly pulls: boolean;
  /** Paused by its document, or by a person. */
  readonly pausedBy: { readonly kind: 'document' } | { readonly kind: 'person'; readonly name: string } | undefined;
  readonly refusedCredentials: { readonly message: string | null } | undefined;
  /** The circuit of the partner's API, unless it is closed. */
  readonly circuit:
    | { readonly api: string; readonly failures: number; readonly lastFailure: string | null }
    | undefined;
  /** Set while the partner's 429 makes us wait. */
  readonly askedToWait: boolean;
  readonly hasData: boolean;
  /** The last finished run of each sync. */
  readonly lastRuns: readonly { readonly sync: string; readonly state: string; readonly errorCode: string | null }[];
  /** Runs in progress that wait for something. */
  readonly waitingRuns: readonly { readonly sync: string; readonly waiting: string }[];
  readonly lanes: readonly LaneFacts[];
  readonly openDeadLetters: number;
  /** Webhooks that were refused since the last accepted event. */
  readonly refusals: Refusals | undefined;
  /** The stream that brings the brand's events. */
  readonly stream: StreamFacts | undefined;
  /** All open alerts that concern the brand. */
  readonly alerts: readonly {
    readonly kind: string;
    readonly severity: 'warning' | 'critical';
    readonly message: string;
  }[];
}

export interface Refusals {
  readonly count: number;
  readonly code: string;
  readonly reason: string;
  /** Whether an event was accepted before them. */
  readonly accepted: boolean;
}

export interface StreamFacts {
  /** Failed connections in a row, and why the last one failed. */
  readonly failures: number;
  readonly failure: string | null;
  /** The partner's words about it. */
  readonly said: string | null;
  /** Messages that the connector in force does not describe. */
  readonly refused: { readonly count: number; readonly reason: string } | null;
}

/** The deliveries of the brand to one destination. */
export interface LaneFacts {
  readonly destination: string;
  readonly paused: boolean;
  readonly waiting: number;
  /** Waiting after a failed attempt. */
  readonly retrying: number;
  /** The answer to one of the latest failed attempts. */
  readonly lastFailure: string | null;
  /** What opened the circuit of the destination, while it is open. */
  readonly circuitOpen: string | undefined;
  /** Whether the destination accepted anything after that attempt. */
  readonly deliveredSince: boolean;
  /** How long the oldest due delivery has been due. */
  readonly lateMs: number;
  /** The usual time from intake to delivery of this brand; undefined without a history. */
  readonly usualMs: number | undefined;
}

export function judgeHealth(facts: HealthFacts): Health {
  const found = [
    ...checkPull(facts),
    ...checkEvents(facts),
    ...facts.lanes.flatMap(checkLane),
    ...checkDeadLetters(facts),
  ];
  const findings = [...found, ...checkAlerts(facts, found)].toSorted((one, other) => rank(other) - rank(one));
  return { state: findings[0]?.state ?? 'healthy', findings };
}

const rank = ({ state }: Finding): number => healthStates.indexOf(state);

/** The checks that report the cause of an alert themselves, from newer facts. */
const reportedBy: ReadonlyMap<string, readonly Check[]> = new Map(
  Object.entries({
    auth_failed: ['credentials'],
    breaker_open: ['circuit'],
    run_failed: ['runs'],
    run_incomplete: ['runs'],
    webhooks_refused: ['events'],
    stream_failing: ['events'],
    dead_letters_growing: ['dead_letters'],
    deliveries_behind: ['backlog', 'deliveries', 'circuit'],
    destination_away: ['circuit'],
    destination_failing: ['deliveries', 'circuit'],
  }),
);

/** Alerts about the same facts as their check: if it reports nothing, the cause is gone. */
const judgedAlike: ReadonlySet<string> = new Set(['auth_failed', 'breaker_open', 'run_failed', 'run_incomplete']);

/** No brand with an open alert is healthy: an alert that no check reports any more counts until it is resolved. */
function checkAlerts({ alerts }: HealthFacts, found: readonly Finding[]): Finding[] {
  const reports = (kind: string) => found.filter((one) => reportedBy.get(kind)?.includes(one.check));
  const open = alerts.map(({ kind, severity, message }) => {
    const isOver = judgedAlike.has(kind) && reports(kind).length === 0;
    const text = isOver ? `${message} The cause is gone; a running service ends the alert.` : message;
    const state = severity === 'critical' && !isOver ? 'failing' : 'attention';
    return { kind, finding: { check: 'alerts', state, message: text } satisfies Finding };
  });
  const isReported = (kind: string, finding: Finding) => reports(kind).some((one) => rank(one) >= rank(finding));
  return open.filter(({ kind, finding }) => !isReported(kind, finding)).map(({ finding }) => finding);
}

/** A single refusal may be a test of the sender; after so many without an accepted event, nothing arrives. */
export const fewestRefusals = 3;

function checkEvents({ refusals, stream }: HealthFacts): Finding[] {
  const found: Finding[] = [];
  const add = (count: number, message: string) =>
    found.push({ check: 'events', state: count >= fewestRefusals ? 'failing' : 'attention', message });
  if (refusals !== undefined) add(refusals.count, describeRefusals(refusals));
  if (stream !== undefined && isStreamFailing(stream)) add(fewestRefusals, describeFailure(stream));
  if (stream?.refused) add(stream.refused.count, describeUnread(stream.refused));
  return found;
}

/** After a node died, the partner may still count its connection for a moment. */
const fewestStreamFailures = 3;

export const isStreamFailing = ({ failures, failure }: Pick<StreamFacts, 'failures' | 'failure'>): boolean =>
  failures >= (failure === 'push.stream_excess' ? 1 : fewestStreamFailures);

/** Why a stream cannot be read, and the remedy. */
export function describeFailure({ failure, said }: Pick<StreamFacts, 'failure' | 'said'>): string {
  if (failure === 'push.stream_taken')
    return 'Another program reads the stream of this brand: the partner closes our connection. Events wait at the partner.';
  const why = `${failure}${said === null ? '' : `: “${said}”`}`;
  return `The stream cannot be read (${why}). ${errors[failure as ErrorCode]?.next ?? ''} Events wait at the partner.`;
}

/** What of a stream's messages the connector does not describe, and the remedy. */
export const describeUnread = ({ reason }: { readonly reason: string }): string =>
  `The stream sends messages that cannot be used: ${reason}. Correct the connector; innbound map CONNECTOR --push --sample FILE tries a message. Afterwards the stream is read again from the first of them.`;

/** Where the reason says more than the code does. */
const remedies: ReadonlyMap<string, string> = new Map(
  Object.entries({
    signature_wrong:
      'The partner signs with another secret, or not the bytes it sends: rotate the secret and give the new one to the partner, who can try it at the sandbox.',
    no_valid_secret: 'No secret is active: rotate the secret and give the new one to the partner.',
    timestamp_old: 'The partner’s clock is wrong: ask the partner to synchronize it (NTP).',
    timestamp_ahead: 'The partner’s clock is wrong: ask the partner to synchronize it (NTP).',
  }),
);

/** What is refused, and the remedy. */
export function describeRefusals({ count, code, reason, accepted }: Refusals): string {
  const refused = count === 1 ? '1 webhook was refused' : `${count} webhooks were refused`;
  const since = accepted ? 'and none was accepted since' : 'and none was ever accepted';
  return `${refused} ${since} (${code}, ${reason}). ${remedies.get(reason) ?? errors[code as ErrorCode]?.next ?? ''}`;
}

function checkPull(facts: HealthFacts): Finding[] {
  const { pausedBy, refusedCredentials, circuit } = facts;
  const found: Finding[] = [];
  const add = (check: Check, state: HealthState, message: string, action?: Action) =>
    found.push({ check, state, message, ...(action && { action }) });
  if (pausedBy?.kind === 'document') add('runs', 'paused', 'Pulls are paused in the integration document.');
  if (pausedBy?.kind === 'person') add('runs', 'paused', `Pulls were paused by ${pausedBy.name}.`, 'resume');
  if (refusedCredentials) {
    const { message } = refusedCredentials;
    const why = message === null ? '' : `: ${message.replace(/\.$/, '')}`;
    add('credentials', 'auth_failed', `The partner refuses the credentials${why}.`, 'test_and_resume');
  }
  if (circuit) {
    const why = (circuit.lastFailure ?? 'no answer').replace(/\.$/, '');
    add('circuit', 'failing', `The circuit to ${circuit.api} is open after repeated failures: ${why}.`, 'try_now');
  }
  for (const { sync, state, errorCode } of facts.lastRuns) {
    const code = errorCode === null ? '' : ` (${errorCode})`;
    if (state === 'failed') add('runs', 'failing', `The last ${sync} run failed${code}.`);
    if (state === 'incomplete') add('runs', 'attention', `The last ${sync} run was incomplete${code}.`);
  }
  for (const { sync, waiting } of facts.waitingRuns) {
    if (waiting === 'breaker') add('circuit', 'attention', `The ${sync} run waits for an open circuit.`, 'try_now');
    if (waiting === 'backoff') add('runs', 'attention', `The ${sync} run is retrying a failed request.`, 'try_now');
    if (waiting === 'retry_after')
      add('runs', 'attention', `The ${sync} run waits because the partner asked us to (429).`, 'try_now');
  }
  if (facts.askedToWait && facts.waitingRuns.length === 0)
    add('runs', 'attention', 'The partner asked us to wait (429).', 'try_now');
  if (!facts.hasData && found.length === 0) {
    add('data', 'new', facts.pulls ? 'No run has finished yet.' : 'No event has arrived yet.');
  }
  return found;
}

/** With fewer, the fault may lie with single records; with this many and no success since, it lies with the destination. */
const fewestToBlame = 3;
/** A backlog this young is never worth a look; a delivery that takes longer is late. */
export const leastLateMs = 60_000;
/** So much older than usual is not chance. */
const timesUsual = 3;

export function isDestinationFailing({ retrying, deliveredSince, paused, circuitOpen }: LaneFacts): boolean {
  return !paused && (circuitOpen !== undefined || (retrying >= fewestToBlame && !deliveredSince));
}

function checkLane(lane: LaneFacts): Finding[] {
  const { destination, waiting, retrying, lateMs, usualMs } = lane;
  if (lane.paused) {
    const message = `Deliveries to ${destination} are paused in its document; ${changes(waiting)} waiting.`;
    return waiting === 0 ? [] : [{ check: 'deliveries', state: 'paused', message }];
  }
  const found: Finding[] = [];
  const retried = { action: 'try_destination', destination } as const;
  const why = (lane.circuitOpen ?? lane.lastFailure ?? 'no answer').replace(/\.$/, '');
  if (lane.circuitOpen !== undefined) {
    const message = `The circuit to ${destination} is open: ${why}. ${changes(waiting)} waiting.`;
    found.push({ check: 'circuit', state: 'failing', message, ...retried });
  } else if (isDestinationFailing(lane)) {
    const message = `${destination} is failing: ${why}. ${changes(waiting)} waiting.`;
    found.push({ check: 'deliveries', state: 'failing', message, ...retried });
  } else if (retrying > 0) {
    const message = `${retrying === 1 ? '1 delivery' : `${retrying} deliveries`} to ${destination} being retried: ${why}.`;
    found.push({ check: 'deliveries', state: 'attention', message, ...retried });
  }
  if (lateMs >= Math.max(leastLateMs, (usualMs ?? 0) * timesUsual)) {
    const message = `Deliveries to ${destination} are ${minutes(lateMs)} behind; ${changes(waiting)} waiting.`;
    found.push({ check: 'backlog', state: 'attention', message });
  }
  return found;
}

/** The state of a destination, from its lanes. */
export function judgeDestination(
  paused: boolean,
  lanes: readonly { readonly failing: boolean; readonly retrying: number; readonly held: number }[],
): HealthState {
  if (paused) return 'paused';
  if (lanes.length === 0) return 'new';
  if (lanes.some(({ failing }) => failing)) return 'failing';
  return lanes.some(({ retrying, held }) => retrying + held > 0) ? 'attention' : 'healthy';
}

function checkDeadLetters({ openDeadLetters: open }: HealthFacts): Finding[] {
  if (open === 0) return [];
  const message = open === 1 ? '1 dead letter is open.' : `${open} dead letters are open.`;
  return [{ check: 'dead_letters', state: 'attention', message }];
}

const changes = (count: number): string => (count === 1 ? '1 change is' : `${count} changes are`);
const minutes = (ms: number): string => {
  const count = Math.max(1, Math.round(ms / 60_000));
  return count === 1 ? '1 minute' : `${count} minutes`;
};
