/**
 * Limits that bound the time of a rule. A running expression cannot be interrupted: JavaScript cannot stop synchronous code without a
 * thread, and the CEL library has no step counter. Instead cost.ts computes an upper bound from the text and the size of the record;
 * an expression over the bound is not run. That requires a largest size for everything an expression can read or build:
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
  /** Characters of a text field of a guest or a room. Shorter, so that guests can be compared with each other within the budget. */
  itemText: 256,
  /** Parts that split makes. */
  parts: 200,
  /** Entries of one list or object inside `extra`, and values in `extra` as a whole. */
  extraEntries: 100,
  extraValues: 1_000,
  /** Instructions of a compiled pattern of matches(). */
  patternProgram: 300,
  /** Characters that a text built with + inside an expression may reach. */
  builtText: 200_000,
  /** Steps of all rules over one record. A warm step takes at most about 100 ns: about 100 ms in all, half a second on a first run. */
  steps: 1_000_000,
  /** Number of guests, rooms or charges assumed when a document is checked; larger records are checked one by one. */
  items: 100,
  rules: 200,
} as const;

/** Thrown inside an expression and caught by its caller. */
export class LimitReached extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'LimitReached';
  }
}
