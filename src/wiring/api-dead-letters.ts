import type { ApiPorts } from '../api/api.ts';
import { type ReplayResult, replayDeadLetters, underFor } from '../deliver/replay.ts';
import { assignGuestEvent, guestCandidates } from '../operations/assign-guest-event.ts';
import { adviseLetter } from '../operations/letter-advice.ts';
import { dropDeadLetter, replayPorts } from '../operations/replay-dead-letters.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { countDeadLetters, deadLetterReasons, listDeadLetters, showDeadLetter } from '../store/operate/dead-letters.ts';
import { deadLetterIntegration } from '../store/operate/owners.ts';

/** Replays 200 dead letters in 4 seconds, without flooding a destination that has just recovered. */
const replaysPerSecond = 50;

export function deadLetterPorts(runtime: Runtime): ApiPorts['deadLetters'] {
  const { pool } = runtime;
  const ports = replayPorts(runtime);
  return {
    list: (filter) => listDeadLetters(pool, filter),
    count: (filter) => countDeadLetters(pool, filter),
    reasons: (filter) => deadLetterReasons(pool, filter),
    show: async (id) => {
      const letter = await showDeadLetter(pool, id);
      return letter && { ...letter, ...(await adviseLetter(pool, letter)) };
    },
    integrationOf: (id) => deadLetterIntegration(pool, id),
    preview: (letter, under) => ports.preview(letter, underFor(letter, under)),
    replay: async (letters, under, by) => {
      const results: ReplayResult[] = [];
      await replayDeadLetters(ports, letters, {
        by,
        perSecond: replaysPerSecond,
        onEach: (result) => results.push(result),
        ...(under && { under }),
      });
      return results;
    },
    candidates: (id) => guestCandidates(runtime, id),
    assign: (id, to, by) => assignGuestEvent(runtime, id, to, by),
    drop: (id, by, reason) => dropDeadLetter(runtime, id, { by, reason }),
  };
}
