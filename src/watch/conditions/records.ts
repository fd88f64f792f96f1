import type { Facts } from '../facts.ts';
import { counted, type Judged } from './judged.ts';

const fewestDead = 10;

export function* ofRecords({ deadLetters, holds, unusual }: Facts): Generator<Judged> {
  for (const { integration, sign, message } of unusual) {
    const text = `Unusual: ${message}. Nothing is held back.`;
    yield { kind: 'rows_unusual', state: 'attention', integration, subject: sign, message: text };
  }
  for (const { integration, id, feed, sign, message, rows, shareBefore, shareNow } of holds) {
    yield {
      kind: 'rows_held',
      state: 'failing',
      integration,
      subject: sign,
      message: `Values of ${counted(rows, 'booking')} are held back. First seen: ${message}. The stored values stay until somebody decides, or the answers are normal again.`,
      detail: { hold_id: id, feed, rows, share_before: shareBefore, share_now: shareNow },
    };
  }
  for (const { integration, last_hour, usual, open } of deadLetters) {
    const about = { kind: 'dead_letters_growing', state: 'attention', integration } as const;
    const are = open === 1 ? '1 dead letter is open.' : `${open} dead letters are open.`;
    if (last_hour >= fewestDead && last_hour >= usual * 3) {
      const message = `${last_hour} new dead letters in an hour instead of the usual ${Number(usual.toFixed(1))}; ${are}`;
      yield { ...about, message, detail: { last_hour, usual, open } };
    } else if (open > 0) yield { ...about, message: are, quiet: true };
  }
}
