import type { JsonObject } from '../../../terms.ts';
import type { Answer, Exchange } from '../exchange.ts';
import type { Leniency } from '../query.ts';

/** How one request goes differently from the description. A good API has none; several can fall on the same request. */
export interface Twist {
  /** Answers at once, before anything is looked at. */
  readonly instead?: (exchange: Exchange) => Answer;
  /** Lets everyone in. */
  readonly openDoor?: true;
  readonly lenient?: Partial<Leniency>;
  readonly list?: ListTwist;
  /** Changes each reservation (or flat row) that leaves; the index counts within one answer. */
  readonly record?: (record: JsonObject, index: number) => JsonObject;
  /** Changes the whole answer. */
  readonly answer?: (answer: Answer, exchange: Exchange) => Answer;
  readonly wire?: WireTwist;
}

interface ListTwist {
  readonly ignoreRange?: true;
  readonly ignoreStatus?: true;
  /** Always the first page. */
  readonly firstPageOnly?: true;
  /** The limit is cut to this, without a word. */
  readonly maxLimit?: number;
  readonly totalBy?: number;
  /** The cursor of the last page leads back to the first. */
  readonly cursorLoop?: true;
  /** A page is never empty: the list begins anew. */
  readonly endless?: true;
  /** A new booking lands at the head of the list as soon as a page was sent. */
  readonly shift?: true;
  /** The last entry of a page comes again in it. */
  readonly duplicate?: true;
}

export interface WireTwist {
  readonly delayMs?: number;
  /** truncate: half the body under the full length; reset: nothing at all; hang: headers, and then silence. */
  readonly cut?: 'truncate' | 'reset' | 'hang';
}

/** A way to go wrong that has a name. */
export interface FaultEntry {
  readonly what: string;
  /** What `value` means, and what it is where it is left out. */
  readonly value?: readonly [meaning: string, standard: number];
  readonly twist: (value: number) => Twist;
}
