/**
 * What bounds the time of a rule. Nothing is interrupted while it runs: JavaScript cannot stop a synchronous expression from
 * outside without a thread, and a step counter inside the CEL library is not to be had. Instead the most that an expression can
 * cost is computed from its text (cost.ts) for the size of the record at hand, and one that could cost more is not run at all.
 * For that to be a bound, whatever an expression can read or make has a largest size:
 */
export const limits = {
  /** Characters of an expression. */
  expression: 4_000,
  /** Nodes of its syntax tree, and their depth. */
  nodes: 500,
  depth: 40,
  /** exists, all, map, filter inside one another. */
  macroNesting: 2,
  /** Characters of a text that an expression reads, or that split, join and replace make. */
  text: 2_000,
  /** Parts that split makes. */
  parts: 200,
  /** Entries of one list or object inside `extra`, and values in `extra` as a whole. */
  extraEntries: 100,
  extraValues: 1_000,
  /** Instructions of a compiled pattern of matches(). */
  patternProgram: 300,
  /** Characters that a text built with + inside an expression may reach. */
  builtText: 200_000,
  /** Steps for all rules over one record; a step is at most some 100 ns once warm, so the bound is some 100 ms, and half a second for a first run. */
  steps: 1_000_000,
  /** Guests, rooms or charges for which the steps are held against the bound when a document is applied; larger records are held against it one by one. */
  items: 100,
  rules: 200,
} as const;

/** Thrown from inside an expression, caught where it is run. */
export class LimitReached extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'LimitReached';
  }
}
