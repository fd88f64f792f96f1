import { isObject, type Json, type JsonObject } from '../../terms.ts';
import { decimal } from '../canonical/reservation.ts';

/** The pure part of an audit: what a destination would get now, held against what it has. */

export const findingKinds = [
  'equal',
  /** A delivery is under way, or held back. */
  'waiting',
  /** The destination has an older version of ours. */
  'behind',
  /** It has this version with other values. */
  'changed',
  'missing',
  /** Not ours, or left out: the reason says why. */
  'only_there',
  'not_readable',
] as const;
export type FindingKind = (typeof findingKinds)[number];

export interface Finding {
  readonly kind: FindingKind;
  /** Where values differ; never the values. */
  readonly paths?: readonly string[];
  readonly reason?: string;
  readonly versionThere?: number;
}

/** What the destination should have of a record. */
export type Here = { readonly version: number; readonly waits: boolean } & (
  | {
      readonly kind: 'sent';
      readonly epoch: number;
      readonly content: () => JsonObject;
      /** Nothing there is right too: the version says only that guests have withdrawn. */
      readonly mayLack?: boolean;
      /** What earlier versions said, for a destination that keeps no version. */
      readonly earlier?: () => readonly JsonObject[];
    }
  | { readonly kind: 'left_out'; readonly reason: string }
);

/** One row, file line or contact of a destination with the id of a record. */
export interface There {
  readonly epoch?: number;
  readonly version?: number;
  readonly isRemoved?: boolean;
  /** `same`: proved by a hash. */
  readonly content: JsonObject | 'same' | 'unreadable';
}

/** None if there is nothing to say: the destination neither has the record nor should have it. A doubled row is a finding of its own. */
export function compare(here: Here, there: readonly There[]): readonly Finding[] {
  const live = there.filter(({ isRemoved }) => !isRemoved);
  if (live.some(({ content }) => content === 'unreadable')) return [{ kind: 'not_readable' }];
  if (here.kind === 'left_out') {
    const kind = here.waits ? 'waiting' : 'only_there';
    return live.map((row) => found(kind, row, { reason: here.reason }));
  }
  if (live.length === 0) return here.mayLack ? [] : [{ kind: here.waits ? 'waiting' : 'missing' }];
  const judged = live.map((row) => judge(here, row));
  const best = Math.max(
    0,
    judged.findIndex(({ kind }) => kind === 'equal'),
  );
  return judged.map((finding, i) => {
    if (i !== best) return found('only_there', live[i], { reason: 'doubled' });
    return here.waits && finding.kind !== 'equal' ? found('waiting', live[i]) : finding;
  });
}

const found = (kind: FindingKind, there: There | undefined, more: Partial<Finding> = {}): Finding => ({
  kind,
  ...more,
  ...(there?.version !== undefined && { versionThere: there.version }),
});

function judge(here: Here & { kind: 'sent' }, there: There): Finding {
  const { version = here.version, epoch = here.epoch, content } = there;
  const paths = typeof content === 'string' ? [] : differingPaths(here.content(), content);
  if (version < here.version) return found('behind', there);
  // A store that was restored counts its versions again; those from before belong to an older epoch.
  const isAhead = version > here.version && epoch >= here.epoch;
  if (isAhead) return found('changed', there, { paths: ['version', ...paths] });
  if (paths.length === 0) return found('equal', there);
  const isEarlier = here.earlier?.().some((one) => differingPaths(one, content as JsonObject).length === 0);
  return isEarlier ? found('behind', there) : found('changed', there, { paths });
}

/** The canonical paths at which two contents differ. Null, absent and an empty list are the same; so are spellings of one number. */
export function differingPaths(one: Json | undefined, other: Json | undefined, at = ''): string[] {
  if (isNothing(one) || isNothing(other)) return isNothing(one) && isNothing(other) ? [] : [at];
  if (Array.isArray(one) && Array.isArray(other)) {
    const longest = Math.max(one.length, other.length);
    return Array.from({ length: longest }, (_, i) => differingPaths(one[i], other[i], `${at}[${i}]`)).flat();
  }
  if (isObject(one) && isObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) => differingPaths(one[name], other[name], at === '' ? name : `${at}.${name}`));
  }
  return isSame(one, other) ? [] : [at];
}

export const isNothing = (value: Json | undefined): value is null | undefined =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Decimals are text in memory and numbers in a destination. */
function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (typeof one !== 'number' && typeof other !== 'number') return false;
  const number = decimal(String(one));
  return number !== undefined && number === decimal(String(other));
}
