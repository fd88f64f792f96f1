import type { Facts } from '../facts.ts';
import { counted, type Judged } from './judged.ts';

type Evidence = Facts['evidence'][number];

/** With fewer, no e-mail address is chance. */
const fewestToJudge = 10;

/** What the health of a brand rests on, with its number; null if on nothing. "100 %" is said of all only. */
export function restsOn({ bookings, with_email }: Pick<Evidence, 'bookings' | 'with_email'>): string | null {
  if (bookings === null || bookings === 0) return null;
  const share = Math.floor((with_email / bookings) * 100);
  return `${counted(bookings, 'booking')}, ${share} % with e-mail`;
}

/** An audit whose result is right: of the destination, when, and how much is equal. */
export function comparedText({ destination, finished_at, part, counts }: LastCompared, nowMs: number): string {
  const at = finished_at.toISOString();
  const day = nowMs - finished_at.getTime() < 86_400_000 ? '' : `${at.slice(0, 10)} `;
  const all = counts.compared.toLocaleString('en');
  return `${destination} compared ${day}${at.slice(11, 16)}${part === null ? '' : ` (${part})`}, ${counts.equal.toLocaleString('en')} of ${all} equal`;
}

interface LastCompared {
  readonly destination: string;
  readonly finished_at: Date;
  readonly part: string | null;
  readonly counts: { readonly compared: number; readonly equal: number };
}

/** What is stored and never becomes of use. */
export function* ofEvidence({ evidence }: Facts): Generator<Judged> {
  for (const { integration, bookings, with_email, delivers } of evidence) {
    const about = { integration, state: 'attention', quiet: true } as const;
    const stored = counted(bookings ?? 0, 'booking');
    if (!delivers && bookings) {
      const message = `The brand delivers to nobody: its document names no destination. ${stored} stored.`;
      yield { ...about, kind: 'delivers_nowhere', message };
    }
    if (bookings !== null && bookings >= fewestToJudge && with_email === 0) {
      const message = `None of ${stored} has an e-mail address. Check the mapping of guests in the studio.`;
      yield { ...about, kind: 'no_email', message };
    }
  }
}

/** Of a brand of which nothing else is known: why it is not healthy yet. */
export function isNew({ integration, pulls, has_data, bookings, delivered }: Evidence): Judged | undefined {
  const about = { kind: 'new', integration, state: 'new', quiet: true } as const;
  if (!has_data) return { ...about, message: pulls ? 'No run has finished yet.' : 'No event has arrived yet.' };
  if (bookings === null) return { ...about, message: 'Nothing is counted yet.' };
  if (bookings === 0)
    return { ...about, message: 'No booking has come yet: nothing that was received or listed contained one.' };
  if (delivered > 0) return undefined;
  return { ...about, message: `${counted(bookings, 'booking')} stored, none of them delivered yet.` };
}
