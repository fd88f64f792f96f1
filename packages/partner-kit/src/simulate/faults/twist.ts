import type { JsonObject } from '../../json.ts';
import type { Answer, Exchange, WireTwist } from '../exchange.ts';
import type { Leniency } from '../query.ts';

/** How one request deviates from the description. Several deviations can apply to the same request. */
export interface Twist {
  /** Answers at once, before the request is examined. */
  readonly instead?: (exchange: Exchange) => Answer;
  /** Skips authentication. */
  readonly openDoor?: true;
  readonly lenient?: Leniency;
  readonly list?: ListTwist;
  /** Changes each reservation (or flat row) sent; the index counts within one response. */
  readonly record?: (record: JsonObject, index: number) => JsonObject;
  /** Changes the complete response. */
  readonly answer?: (answer: Answer, exchange: Exchange) => Answer;
  readonly wire?: WireTwist;
}

interface ListTwist {
  readonly ignoreRange?: true;
  readonly ignoreStatus?: true;
  /** Always the first page. */
  readonly firstPageOnly?: true;
  /** Caps the limit silently. */
  readonly maxLimit?: number;
  readonly totalBy?: number;
  /** The cursor of the last page leads back to the first. */
  readonly cursorLoop?: true;
  /** No page is ever empty: the list starts over. */
  readonly endless?: true;
  /** A new booking is inserted at the head of the list after each page. */
  readonly shift?: true;
  /** The last entry of a page is repeated. */
  readonly duplicate?: true;
}

/** A named fault. */
export interface FaultEntry {
  readonly what: string;
  /** What `value` means, and its default. */
  readonly value?: readonly [meaning: string, standard: number];
  readonly twist: (value: number) => Twist;
}
