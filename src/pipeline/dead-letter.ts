import { describeProblems, type Problem } from '../canonical/field-check.ts';
import type { ErrorCode } from '../errors.ts';
import type { Arrival, DeadLetter } from '../reconcile/forms.ts';
import type { RawRecord } from '../shape/config.ts';
import type { Json } from '../terms.ts';

/** The rule that a reservation breaks. */
export interface Broken {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  readonly message?: string;
}

export function deadLetter(
  arrival: Arrival,
  raw: RawRecord,
  { code, problems, message }: Broken,
  id: string,
): DeadLetter {
  return {
    kind: arrival.cause === 'event' ? 'event' : 'record',
    type: 'reservation',
    ...(id !== '' && { id }),
    code,
    message: message ?? describeProblems(problems),
    detail: {
      problems: problems.map((problem) => ({ ...problem })),
      ...(isRequestedById(arrival) && { requested_by_id: true }),
    },
    // Includes the surrounding data that a replay needs if the mapping reads outside the record.
    raw: { ...raw } as unknown as Json,
  };
}

/** The dead letter of a statement for which no reservation is stored. */
export function letterOf(letter: DeadLetter, isPart: boolean | undefined): DeadLetter {
  if (!isPart) return letter;
  const message = `The reservation is not stored, and the message alone is not enough: ${letter.message}`;
  return { ...letter, code: 'record.unknown_reservation', message };
}

/** The run asked the partner for this one reservation. */
export const isRequestedById = ({ mode, cause }: Arrival): boolean => mode === 'single' && cause === 'run';
