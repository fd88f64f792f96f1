import type { EntityType } from '../../terms.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { compileExpression, type Evaluated } from './expression.ts';
import type { ExpressionFault } from './guards.ts';
import { limits } from './limits.ts';
import { notBoolean } from './rule.ts';
import { type About, GuestScope, ReservationScope } from './views.ts';

type CompiledCondition =
  | { readonly kind: 'ok'; test(record: Reservation | Guest, about?: About): Tested }
  | { readonly kind: 'invalid'; readonly problems: readonly ExpressionFault[] };

type Tested = { readonly kind: 'tested'; readonly value: boolean } | Exclude<Evaluated, { kind: 'value' }>;

/** A destination's filter over the delivered record. For a guest, each field is a variable and `guest` is the whole record. */
export function compileCondition(text: string, kind: EntityType): CompiledCondition {
  const compiled = compileExpression(text, kind);
  if (compiled.kind === 'invalid') return { kind: 'invalid', problems: compiled.mistakes };
  const { expression } = compiled;
  if (expression.type !== 'bool') return { kind: 'invalid', problems: [notBoolean(expression.type, text)] };
  return {
    kind: 'ok',
    test(record, about = {}) {
      const items = 'guests' in record ? Math.max(record.guests.length, record.rooms.length, record.charges.length) : 0;
      if (items > limits.items && expression.mostSteps(items) > limits.steps) {
        return {
          kind: 'failed',
          code: 'record.rule_too_costly',
          message: `The filter could take too long over a record with ${items} guests, rooms or charges.`,
        };
      }
      const scope = 'guests' in record ? new ReservationScope(record, about) : new GuestScope(record, about);
      const outcome = expression.run(scope);
      return outcome.kind === 'failed' ? outcome : { kind: 'tested', value: outcome.value === true };
    },
  };
}
