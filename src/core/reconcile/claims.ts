import { fold } from './account.ts';
import type { Claim } from './claim.ts';
import { type Content, isNewer, listNames, type Time } from './content.ts';
import { isEqual } from './difference.ts';

/** More different claims of one source about one booking are folded into one, which later claims cannot precede. */
export const mostClaims = 50;

export interface Placed {
  readonly log: readonly Claim[];
  /** The source repeats its newest claim. */
  readonly isRepeated: boolean;
  /** The claim is older than all that the log can tell apart. */
  readonly isTooOld?: true;
}

/** A source's claims with one more. A claim of the same time is replaced: the same message, read again. */
export function placed(log: readonly Claim[], claim: Claim): Placed {
  const last = log.at(-1);
  if (last === undefined) return { log: [claim], isRepeated: false };
  if (log[0]?.base !== undefined && !isNewer(claim.at, log[0].at)) return { log, isRepeated: false, isTooOld: true };
  if (isNewer(claim.at, last.at)) {
    const isSame = statesSame(last, claim) && last.base === undefined;
    if (isSame) return { log: [...log.slice(0, -1), seenAgain(last, claim.seen ?? claim.at)], isRepeated: true };
    if (last.seen === undefined || isNewer(claim.at, last.seen))
      return { log: bounded([...log, claim]), isRepeated: false };
  }
  const next = log.findIndex(({ at }) => !isNewer(claim.at, at));
  const place = next === -1 ? log.length : next;
  const known = log[place];
  if (known !== undefined && !isNewer(known.at, claim.at)) {
    const seen = known.seen === undefined ? claim : { ...claim, seen: known.seen };
    return { log: log.with(place, joinedPersons(known, seen)), isRepeated: false };
  }
  const before = log[place - 1];
  const isBetween = before?.seen !== undefined && isNewer(before.seen, claim.at) && !statesSame(before, claim);
  const again = isBetween ? [{ ...before, at: before.seen, seen: undefined, base: undefined }] : [];
  const around = inRuns([...log.slice(Math.max(0, place - 1), place), claim, ...again, ...log.slice(place, place + 1)]);
  const rest = [log.slice(0, Math.max(0, place - 1)), log.slice(place + 1)] as const;
  return { log: bounded([...rest[0], ...around, ...rest[1]]), isRepeated: false };
}

/** A late claim that its neighbour repeats makes one claim with it, as if both had come in time. */
const inRuns = (claims: readonly Claim[]): readonly Claim[] =>
  claims.reduce<Claim[]>((runs, claim) => {
    const last = runs.at(-1);
    if (last === undefined || last.base !== undefined || !statesSame(last, claim)) runs.push(claim);
    else runs[runs.length - 1] = seenAgain(last, claim.seen ?? claim.at);
    return runs;
  }, []);

/** One event may be about several persons of a booking; each is stated for itself. */
function joinedPersons(known: Claim, claim: Claim): Claim {
  const [before = [], own = []] = [known.content.lists.guests, claim.content.lists.guests];
  if (!known.isPerson || !claim.isPerson) return claim;
  const isRestated = ({ as }: (typeof before)[number]) => own.some((one) => isEqual(one.as ?? null, as ?? null));
  const guests = [...before.filter((one) => !isRestated(one)), ...own];
  return { ...claim, content: { ...claim.content, lists: { ...claim.content.lists, guests } } };
}

/** A claim that its source repeats. */
export const seenAgain = (claim: Claim, at: Time): Claim =>
  isNewer(at, claim.seen ?? claim.at) ? { ...claim, seen: at } : claim;

function bounded(log: readonly Claim[]): readonly Claim[] {
  const [first, second, ...rest] = log;
  if (log.length <= mostClaims || first === undefined || second === undefined) return log;
  return [{ ...second, base: fold([first, second]) }, ...rest];
}

export function statesSame(a: Claim, b: Claim): boolean {
  return (
    a.isPerson === b.isPerson &&
    a.scope.fields === b.scope.fields &&
    a.scope.lists === b.scope.lists &&
    contentsSame(a.content, b.content)
  );
}

export function contentsSame(a: Content, b: Content): boolean {
  if (!isEqual(a.values, b.values) || !isEqual(a.assumed ?? {}, b.assumed ?? {})) return false;
  if (String(a.unread ?? []) !== String(b.unread ?? [])) return false;
  return listNames.every((name) => {
    const [one, other] = [a.lists[name], b.lists[name]];
    return one === other || (one !== undefined && other !== undefined && isEqual(one, other));
  });
}
