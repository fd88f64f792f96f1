import type { ErrorCode } from '../../../../errors.ts';
import { shortHash } from '../../../../kit/short-hash.ts';
import type { EpochMs, LocalDate, SyncType } from '../../../../terms.ts';
import type { Reservation } from '../../../canonical/reservation.ts';
import { addDays, localDateAt } from '../../../canonical/values.ts';
import type { PullSettings } from '../../../documents/pull.ts';
import type { PullPorts } from '../ports.ts';
import { asksByDays, changeStepDays, listRequestOf, mentions } from '../request/list-request.ts';
import { firstPassAfter } from '../run/pass-end.ts';
import { firstPass, type Position, type Run } from '../run/run-state.ts';
import { nextWindow, startOfDay, type Window } from './windows.ts';

/** The changes that a run asks for. */
interface Changes {
  readonly since: EpochMs;
  readonly until: EpochMs;
}

/** Longer than any range. */
const wholeRangeDays = 100_000;
/** Of a scheduled sync. */
const longestWindowDays = 7;

type Ranged =
  | { readonly kind: 'ok'; readonly position: Position }
  | { readonly kind: 'invalid'; readonly code: ErrorCode; readonly message: string };

/** The start position of a run: the requested range, or the range of its sync counted from today at the property. */
export function startOf(run: Run, settings: PullSettings, now: EpochMs, changes?: Changes): Ranged {
  const today = localDateAt(settings.timezone, now);
  const sync = run.sync === undefined ? undefined : settings.syncs[run.sync];
  const asked = askedRange(run);
  if (asked === undefined && sync === undefined) {
    const message = `${settings.integration} has no sync ${run.sync ?? ''}`.trimEnd();
    return { kind: 'invalid', code: 'pull.no_such_sync', message };
  }
  if (changes && changes.since >= changes.until) {
    const message = 'the range has not begun yet: this list is asked for by days of changes, not of stays';
    return { kind: 'invalid', code: 'pull.bad_range', message };
  }
  const changeDays = changes && changeStepDays(settings, run);
  const range =
    changes && changeDays !== undefined
      ? { from: localDateAt(settings.timezone, changes.since), to: localDateAt(settings.timezone, changes.until - 1) }
      : (asked ?? { from: addDays(today, sync?.fromDays ?? 0), to: addDays(today, sync?.toDays ?? 0) });
  const windowDays = asked === undefined ? Math.min(longestWindowDays, settings.stepDays) : settings.stepDays;
  const stepDays = changeDays ?? (asksByDays(settings, run) ? windowDays : wholeRangeDays);
  const window = nextWindow(range.from, range.to, stepDays);
  if (window === undefined) {
    return { kind: 'invalid', code: 'pull.bad_range', message: `${range.from} is after ${range.to}` };
  }
  const lists = settings.also.length > 0 && { list: 0, lastList: settings.also.length };
  const position = { ...range, today, stepDays, window, pass: firstPass, findings: [], ...changes, ...lists };
  return { kind: 'ok', position };
}

/** The range requested by a person; one bound alone means a single day. */
export function askedRange({ from, to }: Pick<Run, 'from' | 'to'>): Window | undefined {
  const first = from ?? to;
  return first === undefined ? undefined : { from: first, to: to ?? first };
}

/** The position at the next window, or past the last one. */
export function afterWindow(position: Position, finding?: Position['findings'][number]): Position {
  const { window, ...rest } = position;
  const findings = finding === undefined ? position.findings : [...position.findings, finding];
  const after = { ...rest, pass: firstPassAfter(position.pass), findings };
  const next = window && nextWindow(addDays(window.to, 1), position.to, position.stepDays);
  if (next) return { ...after, window: next };
  const { list = 0, lastList = 0 } = position;
  const again = list < lastList ? nextWindow(position.from, position.to, position.stepDays) : undefined;
  return again ? { ...after, window: again, list: list + 1 } : after;
}

/**
 * The changes that this run asks for, if its request uses {since}: from the start of the last complete run of the sync minus the overlap,
 * which covers changes that were being saved during that run, until now. A requested range covers the changes of its days.
 */
export async function changesOf(
  ports: Pick<PullPorts, 'runs'>,
  run: Run,
  settings: PullSettings,
  now: EpochMs,
): Promise<Changes | undefined> {
  if (!mentions(listRequestOf(settings, run), '{since')) return undefined;
  const asked = askedRange(run);
  if (asked !== undefined) {
    const { from, to } = asked;
    return {
      since: startOfDay(from, settings.timezone),
      until: Math.min(now, startOfDay(addDays(to, 1), settings.timezone)),
    };
  }
  const last = run.sync && (await ports.runs.watermark(run.integration, run.sync, feedOf(settings)));
  return { since: last === undefined ? now - settings.since.firstMs : last - settings.since.overlapMs, until: now };
}

/** Identifies the list: the watermark of a test system, or of another property, says nothing about this one. */
export function feedOf({ base_url: baseUrl, brandId }: Pick<PullSettings, 'base_url' | 'brandId'>): number {
  return shortHash(JSON.stringify([baseUrl, brandId]));
}

/** A larger difference is a wrong header, not a slow clock. */
const mostSlowMs = 86_400_000;

/**
 * Sets the watermark to the partner's time in the `Date` header of the first answer, if its clock is slower than ours. The partner
 * compares {since} with modification times by its own clock, and a slow clock writes times before our start after this run.
 */
export function byPartnersClock(position: Position, { date = '' }: Readonly<Record<string, string>>): Position {
  const { startedAt, pass, window, from } = position;
  const isFirst = pass.no === 1 && pass.pages === 0 && window?.from === from;
  const shown = Date.parse(date);
  if (startedAt === undefined || !isFirst || !(shown < startedAt && shown > startedAt - mostSlowMs)) return position;
  return { ...position, startedAt: shown };
}

/** Whether a run keeps this reservation. */
export type Selection = (reservation: Pick<Reservation, 'check_in' | 'check_out' | 'status'>) => boolean;

/**
 * By the property's date, the three syncs divide all reservations: arriving, in house, departed. The days of arrival and departure
 * count as in house, so that no reservation falls between two syncs. Cancellations and no-shows are kept by every sync.
 */
const purposes: Readonly<Record<SyncType, (today: LocalDate) => Selection>> = {
  pre_stay: (today) => (reservation) => reservation.check_in > today,
  stay: (today) => (reservation) =>
    reservation.status === 'checked_in' || (reservation.check_in <= today && reservation.check_out >= today),
  post_stay: (today) => (reservation) => reservation.check_out < today,
};

const ended: ReadonlySet<string> = new Set(['cancelled', 'no_show']);
const everything: Selection = () => true;

/** What this run keeps. */
export function selectionOf(run: Run, settings: Pick<PullSettings, 'acknowledge'>, position: Position): Selection {
  if (listsChanges(settings, position)) return everything;
  return selectionFor(run.sync, position.today, askedRange(run));
}

/**
 * A list by modification time, or of what was not acknowledged, shows a change once. Dividing it between syncs would lose a change: one
 * sync reads it on the day before arrival, the other on the day itself, and neither keeps it.
 */
export function listsChanges({ acknowledge }: Pick<PullSettings, 'acknowledge'>, { since }: Position): boolean {
  return acknowledge !== undefined || since !== undefined;
}

export function selectionFor(sync: SyncType | undefined, today: LocalDate, asked: Window | undefined): Selection {
  if (sync === undefined || (asked !== undefined && isOutside(sync, today, asked))) return everything;
  const wanted = purposes[sync](today);
  return (reservation) => ended.has(reservation.status) || wanted(reservation);
}

/** A requested range outside the sync's purpose (past days for pre_stay) acts as a backfill: everything in it is kept. */
function isOutside(sync: SyncType, today: LocalDate, { from, to }: Window): boolean {
  if (sync === 'pre_stay') return to <= today;
  if (sync === 'post_stay') return from >= today;
  return to < today || from > today;
}
