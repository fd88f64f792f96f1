import type { Json } from '../terms.ts';
import type { FeedFinding } from './feed.ts';
import type { Refusals, StreamFacts } from './health.ts';
import type { Judgement } from './silence.ts';

export const alertKinds = [
  'auth_failed',
  'breaker_open',
  'stream_failing',
  'stream_gap',
  'stream_behind',
  'feed_silent',
  'feed_low',
  'runs_slow',
  'webhooks_refused',
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
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** A fault that exists now. It raises an alert; when it ends, the alert is resolved. */
export interface Condition {
  readonly kind: AlertKind;
  /** Empty if it concerns the service, or several integrations. */
  readonly integration: string;
  readonly subject: string;
  readonly severity: 'warning' | 'critical';
  /** For an operator; no guest data. */
  readonly message: string;
  readonly detail: { readonly [key: string]: Json };
  /** All brands of a condition that many brands share; the detail names some. */
  readonly brands?: readonly string[];
}

/** The facts to judge, from the store and the documents in force. */
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
  /** Brands whose webhooks are refused, without an accepted one since. */
  readonly refusals: readonly (Refusals & { readonly integration: string })[];
  readonly skews: readonly {
    readonly integration: string;
    /** Refused in the last hour or two because their time was too far off. */
    readonly refused: number;
    /** Accepted, but more than a minute in the future. */
    readonly ahead: number;
    readonly taken: number;
  }[];
  /** Nodes with loops that make no progress. */
  readonly stalled: readonly { readonly node: string; readonly loops: readonly string[] }[];
  /** Nodes whose clock differs from the database's by more than the tolerance. */
  readonly nodeClocks: readonly { readonly node: string; readonly ahead_ms: number }[];
  readonly lanes: readonly {
    readonly integration: string;
    readonly destination: string;
    readonly waiting: number;
    readonly late_ms: number | null;
  }[];
  /** Destinations that accept nothing now. */
  readonly failing: readonly {
    readonly destination: string;
    readonly integrations: number;
    readonly waiting: number;
    readonly last_failure: string | null;
  }[];
  /** Destinations whose circuit is open. */
  readonly circuits: readonly {
    readonly name: string;
    readonly last_failure: string;
    readonly open_since: Date;
  }[];
  /** Open alerts that many brands share. */
  readonly shared: readonly { readonly kind: string; readonly subject: string }[];
  readonly broken: readonly { readonly document: string; readonly message: string }[];
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
  authFailures: [],
  streams: [],
  deadLetters: [],
  unlisted: [],
  holds: [],
  unusual: [],
  refusals: [],
  skews: [],
  stalled: [],
  nodeClocks: [],
  lanes: [],
  failing: [],
  circuits: [],
  shared: [],
  broken: [],
  alertRoutes: [],
};
