import type { Json } from '../../terms.ts';
import type { FeedFinding } from './feed.ts';
import type { Judgement } from './silence.ts';

/** Every kind of alert, with what to do about it: first causes, then their effects. */
export const advice = {
  role_missing: 'Start a node with this role, or one with --role all. Waiting work is then processed.',
  disk_full: 'Free some space, or shorten retention in innbound.yaml. Events that partners send again are not lost.',
  auth_failed: 'Correct the credentials in the brand’s document or in Secrets, then resume the brand.',
  breaker_open: 'Ask the partner. Pulls resume by themselves when the API answers; nothing is lost meanwhile.',
  stream_failing:
    'If another program uses the same application key, stop it; otherwise correct what the alert names. Reading resumes from the stored offset.',
  stream_gap:
    'Backfill the days since the last connection with `innbound sync NAME --from D --to D`. The alert ends with the next complete run.',
  stream_behind:
    'Make the stream readable again before the partner deletes its events; see the other alerts of the brand.',
  feed_silent:
    'Ask the partner whether the feed was switched off. For events, check the rejected webhooks of the brand.',
  feed_low:
    'Ask the partner whether hotels, rooms or statuses were removed from the feed. Compare a day with the partner’s system.',
  runs_slow:
    'Open a run: it has the time of each page. Ask the partner; shorten the range of the sync or raise its interval.',
  webhooks_refused:
    'Open the brand: Push shows what is refused. Rotate the secret there if the partner has another one; the sandbox tells the partner what is wrong. For a stream, correct the path of the connector that the alert names.',
  events_behind: 'See whether a worker is busy or stalled, and add one if it is busy. Events are not lost.',
  run_failed: 'Open the run: it has the partner’s answer and the next step for its code.',
  run_incomplete: 'Open the run to see which windows are missing. The next run asks for them again.',
  dead_letters_growing: 'Open the dead letters of the brand, fix the first one, then replay all with the same code.',
  dead_letter_share: 'Open the dead letters of the brand, by code. Add new spellings of the partner to the connector.',
  bookings_unlisted:
    'Compare some of them with the partner’s system. They do not change until the partner sends a change.',
  rows_held:
    'Open the hold. A renamed field: correct the mapping. A mistake of the partner: tell them and wait. A genuine change: release it.',
  rows_unusual:
    'Ask the partner whether this is right. Withdrawals count at once; a value that cannot be read leaves the stored one as it is: correct the mapping. Each event needs its own id.',
  clock_skew: 'Synchronize the clock that is off with NTP.',
  node_stalled: 'Check that the node reaches the database. If it does, restart it; its work moves to other nodes.',
  deliveries_behind: 'Check the destination’s answers. If it is only slow, raise its concurrency or its batch size.',
  destination_away: 'Ask who runs the destination. Deliveries wait and resume by themselves.',
  destination_refusing:
    'Read its answer. Refused credentials: replace the stored secret or the file, or correct the document; waiting changes are then sent. Refused changes: correct the document or the account there, then Try now sends them again.',
  destination_failing:
    'Read the destination’s answer. If it refuses our credentials or our format, correct its document.',
  destination_differs:
    'Open the destination: it lists what differs. Repair sends it again; if it differs again, find out who else writes there.',
  erased_guest_there:
    'Somebody put the guest back, or restored an older state: delete the guest there, then repair and audit the destination again.',
  feedback_failing:
    'Give the credentials of the destination the permission that its page names, or set `feedback: false`. Reading continues where it stopped.',
  document_broken: 'Open the document: it names the mistake. Its brands stop until it is corrected.',
  alert_route_failing: 'Test the route on the Alerts page: it shows the answer. Correct its address or its secret.',
  partner_waiting:
    'Open the onboarding link of the brand: answer the comments there, or look at the checklist and approve.',
};
export type AlertKind = keyof typeof advice;
export const alertKinds = Object.keys(advice) as AlertKind[];

/** With those that raise no alert and only show in the health of a brand. */
type ConditionKind =
  | AlertKind
  | 'paused'
  | 'new'
  | 'run_waiting'
  | 'deliveries_paused'
  | 'deliveries_retrying'
  | 'delivers_nowhere'
  | 'no_email';

/** From harmless to worst; a brand has the worst state of its conditions. */
export const healthStates = ['healthy', 'new', 'paused', 'attention', 'failing', 'auth_failed'] as const;
export type HealthState = (typeof healthStates)[number];

export const actions = ['resume', 'test_and_resume', 'try_now', 'try_destination', 'release'] as const;

/** What is true now and not as usual. Health, alerts, incidents and causes are views of these. */
export interface Condition {
  readonly kind: ConditionKind;
  /** Empty if it concerns the service, or several integrations. */
  readonly integration: string;
  readonly subject: string;
  readonly state: HealthState;
  /** Not worth an alert, at least not yet. */
  readonly quiet?: true;
  /** For an operator; no guest data. */
  readonly message: string;
  readonly detail: { readonly [key: string]: Json };
  /** All brands of a condition that many brands share; the detail names some. */
  readonly brands?: readonly string[];
  /** What an operator can do at once about what waits. */
  readonly action?: (typeof actions)[number];
}

/** How many webhooks of a brand were refused. */
export interface Refusals {
  /** In the last 24 hours. */
  readonly count: number;
  /** Of the last one. */
  readonly code: string;
  readonly reason: string;
  /** Among the last requests of the hour. */
  readonly lately: number;
  readonly acceptedLately: number;
  readonly everAccepted: boolean;
  /** Since the last accepted event; at most 20 are counted. */
  readonly since: number;
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

/** The deliveries of a brand to one destination. */
export interface LaneFacts {
  readonly integration: string;
  readonly destination: string;
  readonly paused: boolean;
  /** Paused until somebody releases it. */
  readonly preview?: boolean;
  /** Records with an undelivered version. */
  readonly waiting: number;
  /** Waiting after a failed attempt. */
  readonly retrying: number;
  /** The answer to one of the latest failed attempts. */
  readonly last_failure: string | null;
  /** Whether the destination accepted anything after that attempt. */
  readonly delivered_since: boolean;
  /** How long the oldest due delivery has been due. */
  readonly late_ms: number | null;
  /** The usual time from intake to delivery of this brand; undefined without a history. */
  readonly usual_ms?: number | undefined;
}

/** The facts to judge, from the store and the documents in force: of all brands, or of some. Empty where others are judged. */
export const noFacts = {
  feeds: [] as readonly {
    readonly integration: string;
    readonly feed: 'push' | 'pull';
    readonly judgement: Judgement;
  }[],
  /** Days that are far from usual, with the same measure of the last four weeks. */
  volumes: [] as readonly (FeedFinding & {
    readonly integration: string;
    readonly listsChanges: boolean;
    readonly history: readonly number[];
  })[],
  /** The last finished run of each sync. */
  runs: [] as readonly {
    readonly integration: string;
    readonly sync: string;
    readonly state: string;
    readonly run_id: string;
    readonly error_code: string | null;
  }[],
  partnerCircuits: [] as readonly {
    readonly api: string;
    readonly integrations: readonly string[];
    readonly last_failure: string | null;
  }[],
  /** Brands whose pulls are paused; by their document without a person. */
  pauses: [] as readonly { readonly integration: string; readonly by: string | null }[],
  /** What the health of each brand rests on; read for health only. */
  evidence: [] as readonly {
    readonly integration: string;
    readonly pulls: boolean;
    /** A run has finished, or an event has arrived. */
    readonly has_data: boolean;
    /** Stored now; null if they were never counted. */
    readonly bookings: number | null;
    readonly with_email: number;
    /** Deliveries that were ever accepted. */
    readonly delivered: number;
    /** Its document names a destination. */
    readonly delivers: boolean;
  }[],
  /** Runs in progress that wait for something. */
  waitingRuns: [] as readonly { readonly integration: string; readonly sync: string; readonly waiting: string }[],
  /** Brands whose partner answered 429 and makes us wait. */
  askedToWait: [] as readonly string[],
  authFailures: [] as readonly { readonly integration: string; readonly message: string | null }[],
  deadLetters: [] as readonly {
    readonly integration: string;
    readonly last_hour: number;
    /** An hour's usual number, over the day before. */
    readonly usual: number;
    readonly open: number;
  }[],
  streams: [] as readonly (StreamFacts & {
    /** The brand whose credentials are used. */
    readonly account: string;
    /** How long ago everything was stored that the partner had sent; null before the first event. */
    readonly behind_ms: number | null;
    /** Events are missing, and no run of the account has been complete since. */
    readonly has_gap: boolean;
  })[],
  /** Open holds. */
  holds: [] as readonly {
    readonly integration: string;
    readonly id: string;
    readonly feed: string;
    /** Such as cleared guests.email. */
    readonly sign: string;
    readonly message: string;
    readonly rows: number;
    readonly shareBefore: number;
    readonly shareNow: number;
  }[],
  /** What happened to nearly all bookings of a feed during the last day although nothing is held: a withdrawal, a value that cannot be read. */
  unusual: [] as readonly { readonly integration: string; readonly sign: string; readonly message: string }[],
  /** A large part of a brand's coming bookings was cancelled within an hour. */
  cancelled: [] as readonly {
    readonly integration: string;
    readonly cancelled: number;
    readonly coming: number;
    /** In an hour. */
    readonly usual: number;
  }[],
  /** Reservations that disappeared from their brand's lists during the last day. */
  unlisted: [] as readonly {
    readonly integration: string;
    readonly count: number;
    /** The last run of each sync was complete and found none. */
    readonly is_empty: boolean;
  }[],
  refusals: [] as readonly (Refusals & { readonly integration: string })[],
  skews: [] as readonly {
    readonly integration: string;
    /** Of the events accepted in the last hour, those more than a minute in the future. */
    readonly ahead: number;
    readonly taken: number;
  }[],
  /** Accepted events that are not processed yet. */
  pending: [] as readonly { readonly integration: string; readonly count: number; readonly oldest_ms: number }[],
  /** Roles that no live node has. */
  missingRoles: [] as readonly ('web' | 'worker')[],
  /** Disks with too little free space, where the database or the workspace is. */
  disks: [] as readonly { readonly node: string; readonly message: string }[],
  /** Nodes with loops that make no progress. */
  stalled: [] as readonly { readonly node: string; readonly loops: readonly string[] }[],
  /** Nodes whose clock differs from the database's by more than the tolerance. */
  nodeClocks: [] as readonly { readonly node: string; readonly ahead_ms: number }[],
  lanes: [] as readonly LaneFacts[],
  /** Destinations whose circuit is open. */
  circuits: [] as readonly {
    readonly name: string;
    readonly last_failure: string;
    readonly open_since: Date;
    /** It refuses our credentials. */
    readonly refused: boolean;
  }[],
  /** Destinations that refused changes for good and have accepted nothing since the first of them. */
  refusing: [] as readonly {
    readonly name: string;
    readonly records: number;
    readonly since: Date;
    readonly last_failure: string;
  }[],
  /** The last audit of each brand at each destination. */
  comparisons: [] as readonly {
    readonly integration: string;
    readonly destination: string;
    readonly reason: string | null;
    readonly counts: {
      readonly [kind in 'behind' | 'changed' | 'missing' | 'wrongly_there' | 'erased_there']: number;
    };
  }[],
  /** Open alerts that many brands share. */
  shared: [] as readonly { readonly kind: string; readonly subject: string }[],
  broken: [] as readonly { readonly document: string; readonly message: string }[],
  /** Partners on their onboarding pages who wait for an operator: they are ready, or asked something. */
  partners: [] as readonly {
    readonly integration: string;
    readonly link_id: string;
    readonly partner: string;
    readonly is_ready: boolean;
    /** Without an answer. */
    readonly comments: number;
  }[],
  /** Alert routes that take nothing now. */
  alertRoutes: [] as readonly {
    readonly route: string;
    readonly waiting: number;
    readonly failure: string | null;
  }[],
};
export type Facts = Readonly<typeof noFacts>;
