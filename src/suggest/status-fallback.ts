import type { Status } from '../canonical/status.ts';
import type { Json } from '../terms.ts';
import { dateFormat } from './formats.ts';
import { plain } from './kinds.ts';
import { type Leaf, present } from './leaf.ts';

/** A status that no single field states, as a mapping, with how sure it is. */
export interface ComputedStatus {
  readonly map: Json;
  readonly path: string;
  readonly confidence: number;
  readonly reason: string;
}

/** In the order in which they decide: a cancelled booking may have been checked in by mistake before. */
const signs: readonly { readonly status: Status; readonly names: readonly string[] }[] = [
  { status: 'no_show', names: ['no show', 'noshow'] },
  { status: 'cancelled', names: ['cancelled', 'canceled', 'cancel', 'cancellation', 'void', 'voided', 'annule'] },
  { status: 'checked_out', names: ['checked out', 'departed', 'check out done', 'actual departure'] },
  { status: 'checked_in', names: ['checked in', 'in house', 'inhouse', 'arrived', 'actual arrival'] },
];
/** Words that may surround a sign: isCancelled, bookingIsCheckedIn, cancelledAt, cancellation_date. */
const around = new Set('is has was booking reservation at on date time flag stay guest the of'.split(' '));

/**
 * Flags and times that imply the status: `cancelled: true`, `cancelledAt`. If the sample has none, every reservation is proposed as
 * confirmed, so that one missing field does not make all records dead letters.
 */
export function computedStatus(leaves: readonly Leaf[]): ComputedStatus {
  const found = signs.flatMap(({ status, names }) => {
    const leaf = leaves.find((one) => names.some((name) => isSign(one, name)) && (isFlag(one) || isMoment(one)));
    return leaf === undefined ? [] : [{ status, leaf }];
  });
  if (found.length === 0) {
    return {
      map: { const: 'confirmed' },
      path: 'nothing',
      confidence: 0.3,
      reason: 'no field of the sample shows the status; find it in the partner’s documentation',
    };
  }
  const cases = found.map(({ status, leaf }): Json => ({ const: status, when: { [leaf.path]: holds(leaf) } }));
  return {
    map: { first: [...cases, { const: 'confirmed' }] },
    path: found.map(({ leaf }) => leaf.path).join(', '),
    confidence: 0.75,
    reason: 'derived from flags and times; confirmed if none of them is set',
  };
}

function isSign({ own, depth, kind }: Leaf, name: string): boolean {
  if (kind !== 'value' || depth > 1) return false;
  const words = name.split(' ');
  const start = own.findIndex((_, index) => words.every((word, at) => own[index + at] === word));
  return start >= 0 && own.every((word, index) => (index >= start && index < start + words.length) || around.has(word));
}

const truths = new Set(['true', '1', 'y', 'yes']);
const untruths = new Set(['false', '0', 'n', 'no']);

function isFlag(leaf: Leaf): boolean {
  const values = present(leaf).map((value) => plain(value).toLowerCase());
  return values.length > 0 && values.every((value) => truths.has(value) || untruths.has(value));
}

/** A time that not every record has. */
function isMoment(leaf: Leaf): boolean {
  const values = present(leaf);
  return values.length > 0 && values.length < leaf.values.length && dateFormat(values)?.share === 1;
}

function holds(leaf: Leaf): Json {
  if (!isFlag(leaf)) return { exists: true };
  const values = [...new Set(present(leaf))];
  const yes = values.find((value) => truths.has(plain(value).toLowerCase()));
  if (yes !== undefined) return yes;
  return values.includes(false) ? true : values.some((value) => plain(value) === '0') ? 1 : 'Y';
}
