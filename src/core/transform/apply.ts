import type { Note } from '../../terms.ts';
import type { Reservation } from '../canonical/reservation.ts';
import type { Evaluated } from './expression.ts';
import { type ListName, lists } from './fields.ts';
import type { Assignment, CompiledRule } from './rule.ts';
import { type FieldTarget, probes, written } from './target.ts';
import { type About, ReservationScope, type View } from './views.ts';
import { commit, type Effects, presentValue, withValue } from './write.ts';

export type Applied =
  /** `record` is the same object if nothing changed; otherwise it must pass the canonical check again. */
  | { readonly kind: 'kept'; readonly record: object; readonly changed: boolean; readonly notes: Note[] }
  /** `note` is the rule's own note, or names the rule. */
  | { readonly kind: 'dropped'; readonly rule: number; readonly note: string }
  | ({ readonly kind: 'failed'; readonly rule: string } & Failure);

/** The message says what failed and where, without values of the record. */
type Failure = Omit<Extract<Evaluated, { kind: 'failed' }>, 'kind'>;

/** Applies the rules in order; each sees the result of those before it. */
export function applyRules(rules: readonly CompiledRule[], given: Reservation, about: About): Applied {
  const notes: Note[] = [];
  let record = given;
  let scope = new ReservationScope(record, about);
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index] as CompiledRule;
    const effects: Effects = { writes: [], removed: [] };
    const held = collect(rule, { record, scope, about }, effects);
    if (typeof held !== 'boolean') return { kind: 'failed', rule: rule.path, ...held };
    if (held && rule.dropsRecord) return { kind: 'dropped', rule: index, note: rule.reason };
    const next = commit(rule, record, effects, notes);
    if (next === record) continue;
    record = next;
    scope = new ReservationScope(record, about);
  }
  return { kind: 'kept', record, changed: record !== given, notes };
}

interface Subject {
  readonly record: Reservation;
  readonly scope: ReservationScope;
  readonly about: About;
}
/** One item of a list. */
interface ListPlace {
  readonly list: ListName;
  readonly index: number;
}

/** Collects the effects of a rule, computed from the record before the rule. Returns whether the condition held for the record. */
function collect(rule: CompiledRule, subject: Subject, effects: Effects): boolean | Failure {
  const { record, scope } = subject;
  if (rule.each !== undefined) {
    for (const index of record[rule.each].keys()) {
      const item = { list: rule.each, index };
      enter(scope, item);
      const held = test(rule, scope);
      if (typeof held !== 'boolean') return held;
      const failed = held ? collectHere(rule, subject, item, effects) : undefined;
      if (failed) return failed;
    }
    return false;
  }
  const held = test(rule, scope);
  if (held !== true) return held;
  const failed = collectHere(rule, subject, undefined, effects);
  if (failed) return failed;
  for (const list of rule.changesLists) {
    for (const index of record[list].keys()) {
      const item = { list, index };
      enter(scope, item);
      const failedItem = collectHere(rule, subject, item, effects);
      if (failedItem) return failedItem;
    }
  }
  return true;
}

function enter(scope: ReservationScope, { list, index }: ListPlace): void {
  const views: readonly View[] = scope.reservation[list];
  (scope as { guest: View | undefined; room: View | undefined; charge: View | undefined })[lists[list].variable] =
    views[index];
}

function test(rule: CompiledRule, scope: ReservationScope): boolean | Failure {
  if (rule.when === undefined) return true;
  const outcome = rule.when.run(scope);
  if (outcome.kind === 'failed') return { code: outcome.code, message: `${rule.path}.when: ${outcome.message}` };
  return outcome.value === true;
}

/** Collects the writes for the reservation itself, or for one item of a list. */
function collectHere(
  rule: CompiledRule,
  subject: Subject,
  item: ListPlace | undefined,
  effects: Effects,
): Failure | undefined {
  const isHere = ({ place }: FieldTarget): boolean =>
    item === undefined ? !Object.hasOwn(lists, place) : place === item.list;
  if (item !== undefined && rule.removesItems.includes(item.list)) effects.removed.push(item);
  for (const assignment of rule.sets) {
    const { target, expression, path } = assignment;
    if (!isHere(target)) continue;
    const outcome = expression.run(subject.scope);
    if (outcome.kind === 'failed') return { code: outcome.code, message: `${path}: ${outcome.message}` };
    const present = presentValue(subject.record, target, item?.index);
    if (present === undefined && isZero(outcome.value) && returnsItself(assignment, subject, item)) continue;
    const result = written(target, outcome.value, present);
    if (result.kind === 'unfit')
      return { code: 'record.rule_failed', message: `${path}: the result is not a valid value of ${target.field}.` };
    effects.writes.push({ target, item: item?.index, value: result.value });
  }
  for (const target of rule.removes)
    if (isHere(target)) effects.writes.push({ target, item: item?.index, value: undefined });
  return undefined;
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === 0n || value === false;
}

/**
 * Whether the zero in the result is the absent field itself, as in `late ? false : guest.marketing_consent`; then nothing is set.
 * Tested by running the expression again with a probe value in the field and checking whether the result is the probe.
 */
function returnsItself(
  { readsItself, target, expression }: Assignment,
  { record, about }: Subject,
  item: ListPlace | undefined,
): boolean {
  if (!readsItself || target.kind === 'any') return false;
  const probe = probes[target.kind];
  const scope = new ReservationScope(withValue(record, target, item?.index, probe.raw), about);
  if (item !== undefined) enter(scope, item);
  const outcome = expression.run(scope);
  return outcome.kind === 'value' && outcome.value === probe.read;
}
