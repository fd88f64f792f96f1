import type { Delivery } from '../message.ts';

/** Thrown for a record whose value the format cannot hold: only this record is refused. The message quotes no value. */
export class UnfitValue extends Error {
  override readonly name = 'UnfitValue';
}

/** How the content of a file is made from deliveries. */
export interface Format<Row = unknown> {
  readonly extension: string;
  /** A delivery in the form kept in memory until its file is full, and its approximate size in bytes. */
  encode(delivery: Delivery): { readonly row: Row; readonly size: number };
  /** The whole file. */
  file(rows: readonly Row[]): Uint8Array | string;
  /** The rows of a file that `file` wrote. */
  read(bytes: Uint8Array): Promise<readonly Row[]>;
  /** The row without the erased guests; undefined if there is nothing to erase in it. */
  erase(row: Row, erasure: Delivery): Row | undefined;
}
