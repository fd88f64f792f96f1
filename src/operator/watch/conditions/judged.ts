import type { Condition } from '../facts.ts';

/** A condition; what it leaves out is empty. */
export type Judged = Pick<Condition, 'kind' | 'state' | 'message'> & Partial<Condition>;

export const counted = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`;
export const hours = (ms: number): string => `${(ms / 3_600_000).toFixed(1)} hours`;
/** Without its full stop, to be followed by one. */
export const clause = (text: string | null): string => (text ?? 'no answer').replace(/\.$/, '');

/** A backlog this young is never worth a look; a delivery that takes longer is late. */
export const leastLateMs = 60_000;
/** From here on a backlog is worth an alert. */
export const behindMs = 15 * 60_000;
export const lateness = (ms: number): string => counted(Math.max(1, Math.round(ms / 60_000)), 'minute');
