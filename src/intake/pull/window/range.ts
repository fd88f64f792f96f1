import { localDateAt } from '../../../canonical/dates.ts';
import type { PullSettings } from '../../../documents/pull.ts';
import type { ErrorCode } from '../../../errors.ts';
import type { EpochMs } from '../../../terms.ts';
import { firstPassAfter } from '../page/overlap.ts';
import { asksByDays, changeStepDays } from '../request/list-request.ts';
import { firstPass, type Position, type Run } from '../run/run-state.ts';
import { addDays, nextWindow, type Window } from './windows.ts';

/** The changes that a run asks for. */
export interface Changes {
  readonly since: EpochMs;
  readonly until: EpochMs;
}

/** Longer than any range. */
const wholeRangeDays = 100_000;
/** Of a scheduled sync. */
const longestWindowDays = 7;

export type Ranged =
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
  return { kind: 'ok', position: { ...range, today, stepDays, window, pass: firstPass, findings: [], ...changes } };
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
  const next = window && nextWindow(addDays(window.to, 1), position.to, position.stepDays);
  return { ...rest, pass: firstPassAfter(position.pass), findings, ...(next && { window: next }) };
}
