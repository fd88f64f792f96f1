import type { Status } from '../../../src/core/canonical/values.ts';
import type { Json } from '../../../src/terms.ts';
import { dateFormat } from './formats.ts';
import { isInEveryItem, type Leaf, plain, present } from './leaf.ts';
import { reservationLexicon } from './lexicon.ts';
import { type Match, matchOf, valuesOf } from './match.ts';
import type { FieldLine } from './section.ts';
import { guessStatus, statedStatus } from './vocabulary.ts';
import { wordSet } from './words.ts';

const lifecycle: ReadonlySet<string> = new Set(['checked_in', 'checked_out', 'no_show']);

/**
 * Systems often have an old status beside the current one, or the state of a message beside that of the stay. The field whose
 * spellings are known, and which shows arrival and departure, is the status; the other one fills its gaps.
 */
export function betterStatus(current: Match | undefined, leaves: readonly Leaf[]): Match | undefined {
  if (current === undefined) return undefined;
  const { not } = reservationLexicon.status;
  const isStatus = ({ own, around, kind, depth }: Leaf) =>
    kind === 'value' &&
    depth <= 3 &&
    [...own, ...around.slice(-2)].some((word) => word === 'status' || word === 'state') &&
    ![...own, ...around].some((word) => not.has(word));
  const worth = (leaf: Leaf): number => {
    const values = present(leaf);
    const known = values.map((value) => statedStatus(plain(value)));
    const share = known.filter((status) => status !== undefined).length / Math.max(1, values.length);
    const lives = !isConstant(leaf) && known.some((status) => status !== undefined && lifecycle.has(status));
    return share + (lives ? 0.5 : 0) + 0.2 * (values.length / leaf.values.length) - 0.05 * leaf.depth;
  };
  const isVague = isConstant(current.leaf) || isOfMessage(current.leaf);
  const varied = leaves.find(
    (leaf) =>
      leaf.depth <= 1 &&
      areStatuses(leaf) &&
      !leaf.own.some((word) => not.has(word)) &&
      (isConstant(current.leaf) || isCancelledIn(leaf)),
  );
  if (isVague && varied !== undefined)
    return matchOf('status', varied, 0.75, `all its values are statuses; ${current.leaf.path} says less`);
  const [best] = leaves.filter((leaf) => leaf !== current.leaf && isStatus(leaf)).sort((a, b) => worth(b) - worth(a));
  if (best === undefined || worth(best) < worth(current.leaf) + 0.2) return undefined;
  const gaps = best.values.some((value) => value === undefined);
  return {
    field: 'status',
    leaf: best,
    others: gaps ? [current.leaf] : [],
    confidence: 0.8,
    reason: 'its values are known statuses, more than those of other fields with this name',
  };
}

const isCancelledIn = (leaf: Leaf): boolean => present(leaf).some((value) => guessStatus(plain(value)) === 'cancelled');
/** Unknown words such as retrieved, and never a cancellation. */
const isOfMessage = (leaf: Leaf): boolean =>
  !isCancelledIn(leaf) && present(leaf).some((value) => guessStatus(plain(value)) === undefined);
const isConstant = (leaf: Leaf): boolean =>
  leaf.values.length > 2 && new Set(leaf.values.map((value) => plain(value ?? null))).size === 1;

/** At least two statuses: a field that is `new` or `booking` everywhere is a kind of record. */
export function areStatuses(leaf: Leaf): boolean {
  const meanings = present(leaf).map((value) => (plain(value).length > 1 ? guessStatus(plain(value)) : undefined));
  return isInEveryItem(leaf) && !meanings.includes(undefined) && new Set(meanings).size > 1;
}

/** A status that no single field states, as a mapping, with how sure it is. */
export interface ComputedStatus extends Omit<FieldLine, 'field'> {
  readonly map: Json;
}

interface Signs {
  readonly names: readonly string[];
  /** Names that are usually those of a date: only a flag counts, or a moment that some records lack. */
  readonly steps: readonly string[];
}

/** In the order in which they decide: a cancelled booking may have been checked in by mistake before. */
const signs: Readonly<Partial<Record<Status, Signs>>> = {
  no_show: names(
    'no show,noshow,nao compareceu,nicht erschienen,nicht angereist,no presentado,non presente,non presentato,niet verschenen',
  ),
  cancelled: names(
    'cancelled,canceled,cancel,cancellation,void,voided,deleted,annule,annulee,anulada,anulado,cancelada,cancelado,annullata,annullato,storniert,storno,geannuleerd',
  ),
  checked_out: names(
    'checked out,departed,actual departure,ausgecheckt,abgereist,uitgecheckt',
    'check out,departure,partie',
  ),
  checked_in: names(
    'checked in,in house,inhouse,arrived,actual arrival,eingecheckt,angereist,ingecheckt',
    'check in,arrival',
  ),
  other: names('tentative,waitlisted', 'option,optional'),
};

/** The plain name of a step, such as check in, is a date; with one of these words it has been done. */
function names(list: string, plain = ''): Signs {
  const steps = plain === '' ? [] : plain.split(',');
  const done = 'done completed efetuado efectuado realizado effettuato effectue feito hecho fait erfolgt'.split(' ');
  return { names: [...list.split(','), ...done.map((word) => `${steps[0]} ${word}`)], steps };
}

/** Words that may surround a sign: isCancelled, bookingIsCheckedIn, cancelledAt, cancellation_date. */
const around = new Set('is has was hizo fez booking reservation at on date time flag stay guest the of'.split(' '));

interface Sign {
  readonly status: Status;
  readonly leaf: Leaf;
}

function signsIn(leaves: readonly Leaf[]): Sign[] {
  return (Object.entries(signs) as [Status, Signs][]).flatMap(([status, { names: known, steps }]) => {
    const leaf = leaves.find(
      (one) =>
        (known.some((name) => isSign(one, name)) && (isFlag(one) || isMoment(one))) ||
        (steps.some((name) => isSign(one, name)) && (isFlag(one) || isDone(one))),
    );
    return leaf === undefined ? [] : [{ status, leaf }];
  });
}

const toCase = ({ status, leaf }: Sign): Json => ({ const: status, when: { [leaf.path]: holds(leaf) } });

/**
 * Flags and times that imply the status: `cancelled: true`, `cancelledAt`. If the sample has none, every reservation is proposed as
 * confirmed, so that one missing field does not make all records dead letters.
 */
export function computedStatus(leaves: readonly Leaf[]): ComputedStatus {
  const signs = signsIn(leaves);
  if (signs.length === 0) {
    return {
      map: { const: 'confirmed' },
      path: 'nothing',
      confidence: 0.3,
      reason: 'no field of the sample shows the status; find it in the partner’s documentation',
    };
  }
  return {
    map: { first: [...signs.map(toCase), { const: 'confirmed' }] },
    path: signs.map(({ leaf }) => leaf.path).join(', '),
    confidence: 0.75,
    reason: 'derived from flags and times; confirmed if none of them is set',
  };
}

/**
 * Flags and times that say more than the status beside them: `status: Active` with `isCancelled: true`. They are used if they differ from
 * the status in a record, unless the status there is a later step that has no flag of its own.
 */
export function signsBeside(status: Match, leaves: readonly Leaf[]): Json[] {
  const meanings = valuesOf(status).map((value) => statedStatus(plain(value ?? null)));
  const all = signsIn(leaves.filter((leaf) => leaf !== status.leaf));
  const flagged = new Set<Status | undefined>([...all.map((sign) => sign.status), 'confirmed', 'other', undefined]);
  const decided = new Set<number>();
  const usable = all.flatMap((sign) => {
    const at = meanings.flatMap((_, index) => (!decided.has(index) && isSet(sign.leaf, index) ? [index] : []));
    if (!at.every((index) => flagged.has(meanings[index]))) return [];
    for (const index of at) decided.add(index);
    return [{ sign, isNeeded: at.some((index) => meanings[index] !== sign.status) }];
  });
  return usable.slice(0, usable.findLastIndex(({ isNeeded }) => isNeeded) + 1).map(({ sign }) => toCase(sign));
}

function isSet(leaf: Leaf, index: number): boolean {
  const value = leaf.values[index];
  return value !== undefined && (!isFlag(leaf) || truths.has(plain(value).toLowerCase()));
}

function isSign({ own, around: outer, depth, kind }: Leaf, name: string): boolean {
  if (kind !== 'value' || depth > 2 || outer.some((word) => rights.has(word))) return false;
  const words = name.split(' ');
  const start = own.findIndex((_, index) => words.every((word, at) => own[index + at] === word));
  return start >= 0 && own.every((word, index) => (index >= start && index < start + words.length) || around.has(word));
}

/** What may be done with a booking was not done. */
const rights = wordSet('policy policies permissions rights actions options allowed conditions terms rules');

const truths = new Set('true 1 y yes j ja s si sim oui o t'.split(' '));
const untruths = new Set('false 0 n no nein nee nao non f'.split(' '));

function isFlag(leaf: Leaf): boolean {
  const values = present(leaf).map((value) => plain(value).toLowerCase());
  return values.length > 0 && values.every((value) => truths.has(value) || untruths.has(value));
}

/** A time that not every record has. */
function isMoment(leaf: Leaf): boolean {
  const values = present(leaf);
  return values.length > 0 && values.length < leaf.values.length && dateFormat(values)?.share === 1;
}

/** The moment of a step, other than its planned date or the time for which it is expected. */
const isDone = (leaf: Leaf): boolean =>
  isMoment(leaf) &&
  !leaf.own.includes('time') &&
  present(leaf).every((value) => /\d[T ](?!00:00)\d\d:/.test(plain(value)));

function holds(leaf: Leaf): Json {
  if (!isFlag(leaf)) return { exists: true };
  const values = [...new Set(present(leaf))];
  const yes = values.find((value) => truths.has(plain(value).toLowerCase()));
  if (yes !== undefined) return yes;
  const no = plain(values[0] ?? null).toLowerCase();
  return values.includes(false) ? true : no === '0' ? 1 : 'Y';
}
