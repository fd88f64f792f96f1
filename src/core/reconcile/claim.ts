import type { Mention } from './consent.ts';
import { type Content, isNewer, type Lists, type Scope, type Source, type Time, type Values } from './content.ts';

/**
 * What one message of a source says about one booking, and when. A record is a function of the set of its claims, so the order in which
 * messages arrive decides nothing: one that is late takes its place, one that is read again under another mapping replaces itself.
 */
export interface Claim {
  /** Effective time and sequence: what identifies a claim among those of its source. */
  readonly at: Time;
  /** When the source last repeated it. */
  readonly seen?: Time | undefined;
  readonly scope: Scope;
  /** A statement about a person: it adds to elements that the booking has, and never says that one exists. */
  readonly isPerson?: true | undefined;
  readonly content: Content;
  /** Older claims, folded: only on the oldest claim of a long log. Its time is that of the newest of them. */
  readonly base?: Account | undefined;
}

/** The claims of each source, oldest first. */
export type Claims = { readonly [Name in Source]?: readonly Claim[] };

/**
 * When a claim counts. A list may be a cached copy: a row that it repeats counts as of `lagMs` before it was last requested, so it
 * overturns an event only after it was repeated for that long.
 */
export function countedAt({ at, seen }: Claim, lagMs: number): Time {
  if (seen === undefined) return at;
  const repeated: Time = lagMs === 0 ? seen : [seen[0] - lagMs, 0];
  return isNewer(repeated, at) ? repeated : at;
}

/** Values of one source; `at` has the times of fields that were stated at another time than the rest. */
export interface Timed {
  readonly values: Values;
  readonly at?: { readonly [field: string]: Time } | undefined;
}

export interface Element extends Timed {
  /** What the source said about this guest's consent, each change of its mind. */
  readonly mentions?: readonly Mention[] | undefined;
  readonly key?: string | undefined;
  readonly as?: Values | undefined;
  /** When the element was last mentioned, if that was not when the source last sent its complete list. */
  readonly since?: Time | undefined;
  /** Not in the list: since when, or never. What was said about it counts again when it comes back. */
  readonly gone?: Time | undefined;
}

export interface ElementList {
  /** When the source last sent a complete list; absent if it only ever sent some elements. */
  readonly at?: Time | undefined;
  /** In the order of the newest list, then by their first statement; those that are gone are the last. */
  readonly items: readonly Element[];
}

/** All that one source says about a booking: its claims folded in the order of their times. */
export interface Account extends Timed {
  /** The time of its newest claim. */
  readonly time: Time;
  readonly lists: Lists<ElementList>;
}

export type Accounts = { readonly [Name in Source]?: Account | undefined };
