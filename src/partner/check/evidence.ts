import { isObject, type JsonObject, type LocalDate } from '../../terms.ts';
import type { CheckAuth } from './auth.ts';
import type { Seen } from './client.ts';

/** Everything that was seen of one API; the rules read it and ask for nothing more. */
export interface Evidence {
  readonly auth: CheckAuth;
  readonly range: { readonly from: LocalDate; readonly to: LocalDate };
  readonly all: readonly Seen[];
  readonly token: Seen | undefined;
  /** The week, asked for as it should be. */
  readonly list: Seen;
  readonly listed: Listed | undefined;
  /** A list without the one, the other and both dates. */
  readonly missing: readonly Seen[];
  readonly malformed: readonly Seen[];
  /** Without credentials, and with wrong ones; none where the API needs none. */
  readonly refused: readonly Seen[];
  readonly byStatus: { readonly asked: string; readonly answer: Seen; readonly listed: Listed | undefined } | undefined;
  readonly walk: Walk | undefined;
  readonly single: { readonly id: string; readonly answer: Seen; readonly inList: JsonObject } | undefined;
  readonly unknown: Seen | undefined;
  readonly search: { readonly answer: Seen; readonly listed: Listed | undefined } | undefined;
}

/** A list answer taken apart. */
export interface Listed {
  /** '' for a bare array, else the key the records are under. */
  readonly root: string;
  readonly records: readonly JsonObject[];
  readonly envelope: JsonObject | undefined;
  readonly nextCursor: string | undefined;
}

export type WalkKind = 'offset' | 'page' | 'cursor' | 'link';

/** The list read again in small pages, to its end or to the bound on pages. */
export interface Walk {
  readonly kind: WalkKind;
  readonly limit: number;
  readonly pages: readonly { readonly seen: Seen; readonly listed: Listed | undefined }[];
  /** full: there was more to read when the bound on pages was reached. */
  readonly end: 'ended' | 'full' | 'failed';
  /** How many rows there should be, from the total or from the first list. */
  readonly expected: number | undefined;
  /** Set where the first list, asked for 200 rows, came with fewer though there are more. */
  readonly capped: { readonly asked: number; readonly got: number } | undefined;
}

export function takeApart(seen: Seen, rootPath?: string): Listed | undefined {
  const { json } = seen;
  if (seen.status !== 200 || json === undefined) return undefined;
  if (Array.isArray(json)) return { root: '', records: objects(json), envelope: undefined, nextCursor: undefined };
  if (typeof json !== 'object' || json === null) return undefined;
  const named = rootPath ?? 'reservations';
  const root = Array.isArray(json[named]) ? named : Object.keys(json).find((key) => Array.isArray(json[key]));
  if (root === undefined) return undefined;
  const cursor = json.next_cursor;
  return {
    root,
    records: objects(json[root] as unknown[]),
    envelope: json,
    nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined,
  };
}

function objects(items: readonly unknown[]): JsonObject[] {
  return items.filter(isObject);
}

/** What tells one row from another; the whole row where it has no id. */
export function rowKey(record: JsonObject): string {
  const { id } = record;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : JSON.stringify(record);
}

/** Someone booked meanwhile: the total is not the same on all pages. */
export function moved({ listed, walk }: Evidence): boolean {
  const totals = [listed, ...(walk?.pages.map((page) => page.listed) ?? [])].map((one) => one?.envelope?.total);
  return new Set(totals).size > 1;
}
