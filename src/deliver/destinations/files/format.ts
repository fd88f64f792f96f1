import type { Delivery } from '../../message.ts';

/** How a file's content is made of the deliveries in it. */
export interface Format<Row = unknown> {
  readonly extension: string;
  /** One delivery as it is kept until its file is full, and about how many bytes it takes. */
  encode(delivery: Delivery): { readonly row: Row; readonly size: number };
  /** The whole file. */
  file(rows: readonly Row[]): Uint8Array | string;
}
