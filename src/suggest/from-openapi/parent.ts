import { isObject, type Json, type JsonObject } from '../../terms.ts';
import type { FieldLine } from '../field.ts';
import { leavesOf } from '../leaves.ts';
import { matchReservation } from '../reservation-fields.ts';
import type { Suggestion } from '../suggest.ts';

/** Reservations inside bookings: the fields that only the booking has, such as the confirmation number. */
export function parentFields(
  sample: Json,
  { connector, fields }: Suggestion & { kind: 'ok' },
): { readonly map: JsonObject; readonly lines: readonly FieldLine[] } {
  const shape = isObject(connector.shape) ? connector.shape : {};
  const [, path] = /^(.+)\[\]\.[^.[\]]+$/.exec(String(shape.root_path ?? '')) ?? [];
  const parents = path === undefined ? undefined : at(sample, path);
  if (!Array.isArray(parents)) return { map: {}, lines: [] };
  const matches = matchReservation(
    leavesOf(parents.filter(isObject)).filter(({ kind, depth }) => kind === 'value' && depth === 0),
  );
  const map: JsonObject = {};
  const lines: FieldLine[] = [];
  for (const field of ['confirmation_number', 'channel', 'source'] as const) {
    const match = matches.get(field);
    const own = fields.find((line) => line.field === field)?.confidence ?? 0;
    if (match === undefined || match.confidence <= own) continue;
    map[field] = `$parent.${match.leaf.path}`;
    lines.push({
      field,
      path: `$parent.${match.leaf.path}`,
      confidence: Math.round(match.confidence * 90) / 100,
      reason: 'a field of the object that contains the reservation',
    });
  }
  return { map, lines };
}

function at(value: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}
