import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Note } from '../terms.ts';
import { type Applied, applyRules } from './apply.ts';
import { type CompiledRule, variablesOf } from './rule.ts';
import type { Target } from './target.ts';
import type { About } from './views.ts';

export type AppliedToGuest =
  /** `guest` is the same object if nothing changed; otherwise it must pass the canonical check again. */
  | { readonly kind: 'kept'; readonly guest: Guest; readonly notes: readonly Note[] }
  | { readonly kind: 'dropped'; readonly note: string }
  | Extract<Applied, { kind: 'failed' }>;

const known: ReadonlySet<string> = new Set(['guest', 'integration', 'brand_id', 'country']);

/** The parts of the rules that concern guests and read nothing of a reservation: a guest on its own follows them too. */
export function rulesOfGuests(rules: readonly CompiledRule[]): CompiledRule[] {
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

function nameOf({ kind, field }: Target): string {
  return kind === 'any' ? `extra.${field}` : field;
}
