import type { Note } from '../../terms.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { type Applied, applyRules } from './apply.ts';
import { roundedSteps } from './expression.ts';
import { listNames } from './fields.ts';
import { limits } from './limits.ts';
import { type CompiledRule, compileRule, type Rule, type RuleProblem, variablesOf } from './rule.ts';
import type { FieldTarget } from './target.ts';
import type { About } from './views.ts';

export type { Applied } from './apply.ts';
export type { Rule, RuleProblem } from './rule.ts';
export type { About } from './views.ts';

/** Compiled rules. */
export interface RuleSet {
  apply(record: Reservation): Applied;
  /** For a profile that a message changes; `sent` names the fields of the message. */
  applyToGuest(profile: Guest, sent: ReadonlySet<string>): AppliedToGuest;
}

type CompiledRules =
  | { readonly kind: 'ok'; readonly rules: RuleSet }
  | { readonly kind: 'invalid'; readonly problems: readonly RuleProblem[] };

/** Compiles the rules of a brand, and reports every mistake with its position. */
export function compileRules(rules: readonly Rule[], about: About = {}): CompiledRules {
  const problems: RuleProblem[] = [];
  if (rules.length > limits.rules) {
    problems.push({ path: 'transforms', message: `There are more than ${limits.rules} rules.`, offset: 0 });
  }
  const compiled = rules.slice(0, limits.rules).map((rule, index) => compileRule(rule, index, problems));
  if (problems.length === 0) problems.push(...tooCostly(compiled));
  if (problems.length > 0) return { kind: 'invalid', problems };
  const bound = boundOf(compiled);
  const apply = (record: Reservation): Applied => {
    if (compiled.length === 0) return { kind: 'kept', record, changed: false, notes: [] };
    return bound(record) ?? applyRules(compiled, record, about);
  };
  const ofGuests = rulesOfGuests(compiled);
  return {
    kind: 'ok',
    rules: { apply, applyToGuest: (profile, sent) => applyToGuest(ofGuests, profile, sent, about) },
  };
}

/** The rules that are too costly only together: reported where the costliest is. */
function tooCostly(rules: readonly CompiledRule[]): RuleProblem[] {
  const steps = stepsOf(rules, limits.items);
  if (steps <= limits.steps) return [];
  const share = (rule: CompiledRule): number => stepsOf([rule], limits.items);
  const most = rules.reduce((one, other) => (share(other) > share(one) ? other : one));
  const message = `Together the rules could take ${roundedSteps(steps)} steps over one record with ${limits.items} guests, rooms and charges; the limit is ${roundedSteps(limits.steps)}. ${most.path} takes the most, ${roundedSteps(share(most))}: make it simpler.`;
  return [{ path: 'transforms', message, offset: 0 }];
}

/** Refuses a record over which the rules could exceed the bound. Sizes up to `limits.items` were checked at compile time. */
function boundOf(rules: readonly CompiledRule[]): (record: Reservation) => Applied | undefined {
  const known = new Map<number, number>();
  return (record) => {
    const items = Math.max(record.guests.length, record.rooms.length, record.charges.length);
    if (items <= limits.items) return undefined;
    const rounded = 2 ** Math.ceil(Math.log2(items));
    const steps = known.get(rounded) ?? stepsOf(rules, rounded);
    known.set(rounded, steps);
    if (steps <= limits.steps) return undefined;
    return {
      kind: 'failed',
      code: 'record.rule_too_costly',
      rule: 'transforms',
      message: `The rules could take too long over a record with ${items} guests, rooms or charges.`,
    };
  };
}

function stepsOf(rules: readonly CompiledRule[], items: number): number {
  let steps = 0;
  for (const { when, each, sets } of rules) {
    steps += (when?.mostSteps(items) ?? 0) * (each === undefined ? 1 : items);
    for (const { target, expression } of sets) {
      steps += expression.mostSteps(items) * (listNames.some((list) => list === target.place) ? items : 1);
    }
  }
  return steps;
}

type AppliedToGuest =
  /** `guest` is the same object if nothing changed; otherwise it must pass the canonical check again. */
  | { readonly kind: 'kept'; readonly guest: Guest; readonly notes: readonly Note[] }
  | { readonly kind: 'dropped'; readonly note: string }
  | Extract<Applied, { kind: 'failed' }>;

const known: ReadonlySet<string> = new Set(['guest', 'integration', 'brand_id', 'country']);

/** The parts of the rules that concern guests and read nothing of a reservation: a guest on its own follows them too. */
function rulesOfGuests(rules: readonly CompiledRule[]): CompiledRule[] {
  return rules.flatMap((rule) => {
    if (rule.when !== undefined && !variablesOf(rule.when.root).isSubsetOf(known)) return [];
    const sets = rule.sets.filter(({ target, expression }) => {
      return target.place === 'guests' && variablesOf(expression.root).isSubsetOf(known);
    });
    const removes = rule.removes.filter(({ place }) => place === 'guests');
    const removesItems = rule.removesItems.filter((list) => list === 'guests');
    if (sets.length + removes.length + removesItems.length === 0) return [];
    return [{ ...rule, sets, removes, removesItems, changesLists: ['guests' as const] }];
  });
}

const at = 'guests[0].';

/**
 * Applies the rules to a profile that a message changes. The profile's other values were ruled when they came, so an expression over
 * its own field runs only if the message sent that field: a suffix is added once. `sent` has names such as email and extra.tier.
 */
export function applyToGuest(
  rules: readonly CompiledRule[],
  guest: Guest,
  sent: ReadonlySet<string>,
  about: About,
): AppliedToGuest {
  const due = rules.map((rule) => ({
    ...rule,
    sets: rule.sets.filter(({ target, readsItself }) => !readsItself || sent.has(nameOf(target))),
  }));
  const lone: Pick<Reservation, 'guests' | 'rooms' | 'charges'> = { guests: [guest], rooms: [], charges: [] };
  const applied = applyRules(due, lone as Reservation, about);
  if (applied.kind !== 'kept') return applied;
  const [kept] = (applied.record as typeof lone).guests;
  if (kept === undefined) return { kind: 'dropped', note: applied.notes.at(-1)?.reason ?? '' };
  const notes = applied.notes.map((note) => ({ ...note, field: note.field.slice(at.length) }));
  return { kind: 'kept', guest: kept, notes };
}

function nameOf({ kind, field }: FieldTarget): string {
  return kind === 'any' ? `extra.${field}` : field;
}
