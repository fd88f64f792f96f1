import type { Json } from '../terms.ts';
import type { FeedFinding } from './feed.ts';
import type { Judgement } from './silence.ts';

export const alertKinds = [
  'role_missing',
  'auth_failed',
  'breaker_open',
  'stream_failing',
  'stream_gap',
  'stream_behind',
  'feed_silent',
  'feed_low',
  'runs_slow',
  'webhooks_refused',
  'events_behind',
  'run_failed',
  'run_incomplete',
  'dead_letters_growing',
  'dead_letter_share',
  'bookings_unlisted',
  'rows_held',
  'rows_unusual',
  'clock_skew',
  'node_stalled',
  'deliveries_behind',
  'destination_away',
  'destination_failing',
  'feedback_failing',
  'document_broken',
  'alert_route_failing',
  'partner_waiting',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** With those that raise no alert and only show in the health of a brand. */
type ConditionKind = AlertKind | 'paused' | 'new' | 'run_waiting' | 'deliveries_paused' | 'deliveries_retrying';

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

/** The facts to judge, from the store and the documents in force: of all brands, or of some. */
export interface Facts {
  readonly feeds: readonly {
    readonly integration: string;
    readonly feed: 'push' | 'pull';
    readonly judgement: Judgement;
  }[];
  /** Days that are far from usual, with the same measure of the last four weeks. */
  readonly volumes: readonly (FeedFinding & {
    readonly integration: string;
    readonly listsChanges: boolean;
    readonly history: readonly number[];
  })[];
  /** The last finished run of each sync. */
  readonly runs: readonly {
    readonly integration: string;
    readonly sync: string;
    readonly state: string;
    readonly run_id: string;
    readonly error_code: string | null;
  }[];
  readonly partnerCircuits: readonly {
    readonly api: string;
    readonly integrations: readonly string[];
    readonly last_failure: string | null;
  }[];
  /** Brands whose pulls are paused; by their document without a person. */
  readonly pauses: readonly { readonly integration: string; readonly by: string | null }[];
  /** Brands without any data yet. */
  readonly empty: readonly { readonly integration: string; readonly pulls: boolean }[];
  /** Runs in progress that wait for something. */
  readonly waitingRuns: readonly { readonly integration: string; readonly sync: string; readonly waiting: string }[];
  /** Brands whose partner answered 429 and makes us wait. */
  readonly askedToWait: readonly string[];
  readonly authFailures: readonly { readonly integration: string; readonly message: string | null }[];
  readonly deadLetters: readonly {
    readonly integration: string;
    readonly last_hour: number;
    /** An hour's usual number, over the day before. */
    readonly usual: number;
    readonly open: number;
  }[];
  readonly streams: readonly (StreamFacts & {
    /** The brand whose credentials are used. */
    readonly account: string;
    readonly behind_ms: number | null;
    readonly has_gap: boolean;
  })[];
  /** Open holds. */
  readonly holds: readonly {
    readonly integration: string;
    readonly id: string;
    readonly feed: string;
    /** Such as cleared guests.email. */
    readonly sign: string;
    readonly message: string;
    readonly rows: number;
    readonly shareBefore: number;
    readonly shareNow: number;
  }[];
  /** What happened to nearly all bookings of a feed during the last day although nothing is held: a withdrawal, a value that cannot be read. */
  readonly unusual: readonly { readonly integration: string; readonly sign: string; readonly message: string }[];
  /** Reservations that disappeared from their brand's lists during the last day. */
  readonly unlisted: readonly { readonly integration: string; readonly count: number }[];
  readonly refusals: readonly (Refusals & { readonly integration: string })[];
  readonly skews: readonly {
    readonly integration: string;
    /** Refused in the last hour or two because their time was too far off. */
    readonly refused: number;
    /** Accepted, but more than a minute in the future. */
    readonly ahead: number;
    readonly taken: number;
  }[];
  /** Accepted events that are not processed yet. */
  readonly pending: readonly { readonly integration: string; readonly count: number; readonly oldest_ms: number }[];
  /** Roles that no live node has. */
  readonly missingRoles: readonly ('web' | 'worker')[];
  /** Nodes with loops that make no progress. */
  readonly stalled: readonly { readonly node: string; readonly loops: readonly string[] }[];
  /** Nodes whose clock differs from the database's by more than the tolerance. */
  readonly nodeClocks: readonly { readonly node: string; readonly ahead_ms: number }[];
  readonly lanes: readonly LaneFacts[];
  /** Destinations whose circuit is open. */
  readonly circuits: readonly {
    readonly name: string;
    readonly last_failure: string;
    readonly open_since: Date;
  }[];
  /** Open alerts that many brands share. */
  readonly shared: readonly { readonly kind: string; readonly subject: string }[];
  readonly broken: readonly { readonly document: string; readonly message: string }[];
  /** Partners on their onboarding pages who wait for an operator: they are ready, or asked something. */
  readonly partners: readonly {
    readonly integration: string;
    readonly link_id: string;
    readonly partner: string;
    readonly is_ready: boolean;
    /** Without an answer. */
    readonly comments: number;
  }[];
  /** Alert routes that take nothing now. */
  readonly alertRoutes: readonly {
    readonly route: string;
    readonly waiting: number;
    readonly failure: string | null;
  }[];
}

/** For judging some of the facts. */
export const noFacts: Facts = {
  feeds: [],
  volumes: [],
  runs: [],
  partnerCircuits: [],
  pauses: [],
  empty: [],
  waitingRuns: [],
  askedToWait: [],
  authFailures: [],
  streams: [],
  deadLetters: [],
  unlisted: [],
  holds: [],
  unusual: [],
  refusals: [],
  skews: [],
  pending: [],
  missingRoles: [],
  stalled: [],
  nodeClocks: [],
  lanes: [],
  circuits: [],
  shared: [],
  broken: [],
  alertRoutes: [],
  partners: [],
};
