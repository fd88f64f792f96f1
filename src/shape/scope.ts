import type { Json, Note, Origins } from '../terms.ts';

/** A value map met a spelling that it does not list: kept as it is, counted, shown to the operator. */
export interface Drift {
  readonly field: string;
  readonly value: string;
}

/** What a traced evaluation gathers. The plain one has none, so that telling origins costs the other records nothing. */
export class Trace {
  /** Raw paths that gave the value of the field at hand. */
  sources: string[] = [];
  /** Whether the partner sent a key that the field at hand reads, be it null. */
  present = false;
  /** Every raw path that was looked at; undefined where nobody asks for them. */
  readonly touched: Set<string> | undefined;
  readonly origins: Origins = {};
  /** Fields of list items for which the partner sent something, be it null. */
  readonly itemKeys = new Set<string>();
  /** Rows found in tables of the response: path of the table to the keys of its rows. */
  readonly tables = new Map<string, Set<string | number>>();

  constructor(touching = false) {
    this.touched = touching ? new Set() : undefined;
  }
}

/** What all values of one record share while they are read. */
export interface Root {
  record: Scope | undefined;
  /** Which item of a canonical list is being made. */
  index: number;
  readonly body: Json | undefined;
  readonly rows: readonly Json[] | undefined;
  readonly notes: Note[];
  readonly drift: Drift[];
  readonly trace: Trace | undefined;
  /** Fields whose value is the connector's constant or default, because the partner sent nothing for them. */
  assumed: Set<string> | undefined;
}

/** Where a path starts: an item, with what stands around it. */
export interface Scope {
  readonly item: Json | undefined;
  /** The item's index or key in its list. */
  readonly key: string | number;
  readonly up: Scope | undefined;
  readonly root: Root;
  /** The item's own path, only while tracing. */
  readonly at: string;
  /** The rows that are this one item, where rows are flat; the row that wins a conflict first. */
  readonly group: readonly Scope[] | undefined;
}

/** The value at a place: undefined where the partner sent no such key, null where it sent one with nothing in it. */
export type Read = (scope: Scope) => Json | undefined;
export type Each = (scope: Scope) => readonly Scope[];

export function isBlank(value: Json | undefined): value is undefined | null | '' {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'string') return false;
  if (value.length === 0) return true;
  // A first character that is no space, as nearly always: nothing more to look at.
  const first = value.charCodeAt(0);
  return (first <= 32 || first >= 128) && value.trim() === '';
}

/** A scalar as text, so that 7 and "7" are one key; undefined for what is no scalar. */
export function keyText(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
