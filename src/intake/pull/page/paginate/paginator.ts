import type { ErrorCode } from '../../../../errors.ts';
import type { Placement } from '../../../../outbound/ask/request.ts';
import type { Json } from '../../../../terms.ts';

/** The place in a list. JSON, because another node may resume from it. */
export type PageState = { readonly [key: string]: string | number | null };

/** The parts of a page that decide which page is next. */
export interface SeenPage {
  /** Rows as the partner counts them. */
  readonly rows: number;
  /** The partner's total, if it sends a readable one. */
  readonly total?: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;
  /** The URL it came from. */
  readonly url: string;
}

export type Next =
  | {
      readonly kind: 'next';
      readonly state: PageState;
      /** The same, begun `overlap` rows earlier. Offered for offsets while the total is not reached. */
      readonly overlapping?: PageState;
    }
  /** Looks like the last page, but a server that caps its pages would answer the same. */
  | { readonly kind: 'short'; readonly state: PageState }
  | { readonly kind: 'end' }
  | { readonly kind: 'broken'; readonly code: ErrorCode; readonly message: string };

/** One style of paging, as a pure function from page to next request. */
export interface Paginator {
  readonly first: PageState;
  /** Counted paging (offset, page number): a list that shifts while it is read can hide rows. */
  readonly counts: boolean;
  placements(state: PageState): readonly Placement[];
  /** The full URL, if the partner supplies it. */
  address?(state: PageState): string | undefined;
  after(state: PageState, page: SeenPage): Next;
}

/** 450 or "450"; anything else is treated as no total. */
export function readTotal(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}
