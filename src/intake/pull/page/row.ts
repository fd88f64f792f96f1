import type { RawRecord } from '../../../shape/shape.ts';

/** A row of a page with the hashes that identify it. */
export interface Row {
  /** Hash of the reservation's key; of the whole row if it has no key, and for flat rows. */
  readonly identity: number;
  /** Hash of the content. */
  readonly content: number;
  /** Hash of the bare cancellation that adds to the row: without it, it is another row. */
  readonly added?: number;
  readonly raw: RawRecord;
  /** The property that the row names, where one poll serves several brands. */
  readonly property?: string;
}
