import { Random } from '../random.ts';
import { answerFaults, contractFaults, wireFaults } from './answers.ts';
import { accidentForms, accidentTwist, listFaults, recordFaults } from './records.ts';
import type { FaultEntry, Twist } from './twist.ts';

/** Every fault the simulator can produce, by name, with a description. */
export const faults = {
  ...answerFaults,
  ...wireFaults,
  ...listFaults,
  ...recordFaults,
  accident: {
    what: 'a mistake in all rows, by default rename:email',
    twist: () => accidentTwist('rename:email') ?? {},
  },
  ...contractFaults,
} as const;
export type FaultKind = keyof typeof faults;
export const faultKinds = Object.keys(faults) as FaultKind[];

const calls = ['list', 'search', 'single', 'token'] as const;
export type Call = (typeof calls)[number];

/** A fault: always, by chance, or a number of times; on every call except the token's, or on one call. */
export interface FaultRule {
  readonly kind: FaultKind;
  /** 0 to 1, drawn for each request. Default: 1. */
  readonly chance?: number;
  /** How many times it occurs. Default: no limit. */
  readonly times?: number;
  readonly on?: Call;
  /** The kind's own number: milliseconds, status, seconds, limit. */
  readonly value?: number;
  /** Of an accident: what is wrong, such as rename:email. */
  readonly of?: string;
}

/** The active faults. Chance is seeded: the same requests in the same order get the same faults. */
export class FaultBox {
  readonly #random: Random;
  #rules: { readonly rule: FaultRule; left: number }[] = [];
  /** How often each kind occurred. */
  readonly struck = new Map<FaultKind, number>();

  constructor(seed: number | string, rules: readonly FaultRule[]) {
    this.#random = new Random(`faults ${seed}`);
    this.set(rules);
  }

  get rules(): FaultRule[] {
    return this.#rules.map(({ rule, left }) => (Number.isFinite(left) ? { ...rule, times: left } : rule));
  }

  set(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ rule, left: rule.times ?? Number.POSITIVE_INFINITY }));
  }

  add(rule: FaultRule): void {
    this.set([...this.rules, rule]);
  }

  /** The faults for this request. */
  draw(call: Call): Twist[] {
    const drawn: Twist[] = [];
    for (const one of this.#rules) {
      const { kind, chance = 1, on, value, of = '' } = one.rule;
      const meant = on === undefined ? call !== 'token' : on === call;
      if (!meant || !this.#random.chance(chance)) continue;
      one.left -= 1;
      this.struck.set(kind, (this.struck.get(kind) ?? 0) + 1);
      const entry: FaultEntry = faults[kind];
      drawn.push(accidentTwist(of) ?? entry.twist(value ?? entry.value?.[1] ?? 0));
    }
    this.#rules = this.#rules.filter(({ left }) => left > 0);
    return drawn;
  }
}

/** Reads a rule from unknown input, or says what is wrong with it. */
export function readRule(input: unknown): FaultRule | { readonly wrong: string } {
  if (typeof input !== 'object' || input === null) return { wrong: 'A fault is an object with a kind.' };
  const { kind, chance, times, on, value, of } = input as Record<string, unknown>;
  if (!faultKinds.some((one) => one === kind)) return { wrong: `kind must be one of ${faultKinds.join(', ')}.` };
  if (chance !== undefined && !(typeof chance === 'number' && chance >= 0 && chance <= 1))
    return { wrong: 'chance must be between 0 and 1.' };
  if (times !== undefined && !(Number.isInteger(times) && Number(times) > 0))
    return { wrong: 'times must be a whole number, at least 1.' };
  if (on !== undefined && !calls.some((one) => one === on)) return { wrong: `on must be one of ${calls.join(', ')}.` };
  if (value !== undefined && typeof value !== 'number') return { wrong: 'value must be a number.' };
  if (of !== undefined && accidentTwist(String(of)) === undefined)
    return { wrong: `An accident is one of: ${accidentForms.join('; ')}.` };
  return Object.fromEntries(
    Object.entries({ kind, chance, times, on, value, of }).filter(([, given]) => given !== undefined),
  ) as unknown as FaultRule;
}
