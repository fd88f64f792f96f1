import type { ApiPorts } from '../api/api.ts';
import { type ReplayResult, replayDeadLetters, underFor } from '../deliver/replay.ts';
import type { Ground } from '../ground.ts';
import { countDeadLetters, listDeadLetters, showDeadLetter } from '../store/dead-letters.ts';
import { deadLetterIntegration } from '../store/owners.ts';
import { dropDeadLetter, replayPorts } from './replay.ts';

/** Enough for two hundred within the caller's patience, and no flood for a destination that just came back. */
const replaysPerSecond = 50;

export function deadLetterPorts(ground: Ground): ApiPorts['deadLetters'] {
  const { pool } = ground;
  const ports = replayPorts(ground);
  return {
    list: (filter) => listDeadLetters(pool, filter),
    count: (filter) => countDeadLetters(pool, filter),
    show: (id) => showDeadLetter(pool, id),
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
    drop: (id, by, reason) => dropDeadLetter(ground, id, { by, reason }),
  };
}
