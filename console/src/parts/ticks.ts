import type { DeliveryNow, Entry } from '../api/types.ts';
import { withOwnWords } from './answer.ts';
import { ago, clockOf, plural, sentence, span, type Tone } from './format.ts';

export type Attempt = Extract<Entry, { what: 'delivery' }>;
export type Letter = Extract<Entry, { what: 'dead_letter' }>;

/** Where one version of a record is at one destination. */
export function tickOf(
  lane: DeliveryNow,
  version: number,
  attempts: readonly Pick<Attempt, 'at' | 'outcome' | 'code' | 'message' | 'duration_ms'>[],
  letter: Pick<Letter, 'message' | 'answer'> | undefined,
): { tone: Tone; mark: string; text: string } {
  const last = attempts.at(-1);
  if (letter) return { tone: 'bad', mark: '✕', text: `refused it: ${withOwnWords(letter.message, letter.answer)}` };
  if (last?.outcome === 'skipped')
    return { tone: 'calm', mark: '–', text: `not sent: ${last.message ?? last.code ?? ''}` };
  if (lane.delivered_version >= version) {
    if (last?.code === 'removed') return { tone: 'calm', mark: '✓', text: `told that it left, ${clockOf(last.at)}` };
    const at = last?.outcome === 'delivered' ? last.at : lane.delivered_version === version ? lane.delivered_at : null;
    const took = last?.duration_ms === undefined ? '' : ` in ${span(last.duration_ms)}`;
    return { tone: 'good', mark: '✓', text: at === null ? 'has it' : `has it, ${clockOf(at)}${took}` };
  }
  if (version < lane.next_version)
    return { tone: 'calm', mark: '–', text: 'not sent: it had nothing for this destination' };
  if (lane.due_at === null) return { tone: 'warn', mark: '…', text: 'waits behind a dead letter' };
  return { tone: 'warn', mark: '…', text: waitingText(lane, attempts) };
}

const stops = {
  release: 'waits: the deliveries of the brand are in preview until they are released',
  document: 'waits: the document of the destination pauses it',
  worker: 'waits: no worker runs',
} as const;

/** Why a version waits: since when, what the destination says, and when it is tried next. */
export function waitingText(
  { away_since, away_said, next_probe_at, due_at, attempt, waits_for }: DeliveryNow,
  attempts: readonly Pick<Attempt, 'at' | 'outcome' | 'code' | 'message'>[],
): string {
  if (waits_for) return stops[waits_for];
  const failed = attempts.filter(({ outcome }) => outcome === 'retry');
  const lastAnswer = (text: string | null | undefined) => (text ? ` Last answer: ${sentence(text)}` : '');
  if (away_since) {
    const next = next_probe_at && Date.parse(next_probe_at) > Date.now() ? ago(next_probe_at) : 'now';
    return `waits: the destination takes nothing since ${clockOf(away_since)} (${ago(away_since)}).${lastAnswer(away_said ?? failed.at(-1)?.message)} It is tried again ${next}.`;
  }
  const [first] = failed;
  if (attempt === 0 || first === undefined) return 'is sent next';
  const next = due_at && Date.parse(due_at) > Date.now() ? ago(due_at) : 'now';
  return `waits: ${plural(attempt, 'attempt')} failed since ${clockOf(first.at)}.${lastAnswer(failed.at(-1)?.message)} It is tried again ${next}.`;
}
