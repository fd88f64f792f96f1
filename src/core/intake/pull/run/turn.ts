import type { ErrorCode } from '../../../../errors.ts';
import type { Asked, WaitReason } from '../../../outbound/ask/ports.ts';
import { afterWindow } from '../window/range.ts';
import { daysIn, firstHalf } from '../window/windows.ts';
import type { Taken } from './pass.ts';
import { firstPassAfter, withoutOverlap } from './pass-end.ts';
import type { Position, RunEnd } from './run-state.ts';

/** What a run does next. */
export type Turn =
  /** Continue at this position. */
  | { readonly kind: 'move'; readonly position: Position }
  | { readonly kind: 'park'; readonly position: Position; readonly ms: number; readonly reason: WaitReason }
  | { readonly kind: 'end'; readonly end: RunEnd }
  | { readonly kind: 'stop' };

/** The position after a page. */
export function afterPage(position: Position, { follow }: Pick<Taken, 'follow'>): Position {
  if (follow.kind !== 'done') return { ...position, pass: follow.pass };
  const { window } = position;
  return afterWindow(position, follow.finding && window && { ...follow.finding, ...window });
}

/** After these, a single day is skipped and named in the run; the other days are read. */
const passable: ReadonlySet<ErrorCode> = new Set(['pull.timeout', 'pull.too_large']);

/** Answers of a server that refuses offsets other than multiples of the page size: the list is read again without overlap. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  'pull.bad_request',
  'pull.not_found',
  'pull.refused',
  'pull.error_in_answer',
]);

/** What to do without an answer. `hasPages`: the run has stored a page. `waitMs`: the longest total wait for one page. */
export function withoutAnswer(
  position: Position,
  asked: Exclude<Asked, { kind: 'answer' }>,
  hasPages: boolean,
  waitMs: number,
): Turn {
  const { window } = position;
  if (asked.kind === 'stopped' || window === undefined) return { kind: 'stop' };
  if (asked.kind === 'park') {
    const { ms, reason, tried } = asked;
    if (tried.waitedMs > waitMs) {
      const code = reason === 'breaker' ? 'pull.breaker_open' : 'pull.rate_limited';
      const hours = Math.floor(waitMs / 3_600_000);
      return {
        kind: 'end',
        end: failedEnd(code, `no page after waiting ${hours} hours for the partner`, position),
      };
    }
    return { kind: 'park', position: { ...position, pass: { ...position.pass, tried } }, ms, reason };
  }
  const { code, message, said } = asked;
  const half = asked.kind === 'shrink' ? firstHalf(window) : undefined;
  if (half !== undefined) {
    const pass = firstPassAfter(position.pass);
    return { kind: 'move', position: { ...position, pass, window: half, stepDays: daysIn(half) } };
  }
  if (position.pass.pages === 1 && position.pass.joint?.ids.length && refusals.has(code)) {
    return { kind: 'move', position: { ...position, pass: withoutOverlap(position.pass) } };
  }
  const isLast = window.to >= position.to;
  if (passable.has(code) && (hasPages || !isLast)) {
    return { kind: 'move', position: afterWindow(position, { ...window, code, message }) };
  }
  const end = failedEnd(code, message, position);
  return { kind: 'end', end: said === undefined ? end : { ...end, said } };
}

export function failedEnd(code: ErrorCode, message: string, position?: Position): RunEnd {
  return { state: 'failed', code, message, findings: position?.findings ?? [] };
}

/** The end of a run that went through all its windows. */
export function concluded({ findings, since, startedAt }: Position): RunEnd {
  const isRead = findings.length === 0 && since !== undefined && startedAt !== undefined;
  const watermark = isRead && { watermark: startedAt };
  const [first] = findings;
  if (first === undefined) return { state: 'complete', findings, ...watermark };
  const more = findings.length > 1 ? `, and ${findings.length - 1} more` : '';
  const message = `${first.message} (${first.from} to ${first.to}${more})`;
  return { state: 'incomplete', code: first.code, message, findings, ...watermark };
}
