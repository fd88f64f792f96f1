import { describeProblems, type Problem } from '../canonical/field-check.ts';
import type { ErrorCode } from '../errors.ts';
import type { Arrival, Finished } from '../reconcile/incoming.ts';
import type { RawRecord } from '../shape/config.ts';
import type { Json } from '../terms.ts';

/** The rule that a reservation breaks. */
export interface Broken {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  readonly message?: string;
}

export function dead(arrival: Arrival, raw: RawRecord, { code, problems, message }: Broken, id: string): Finished {
  return {
    kind: 'dead',
    deadLetter: {
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
    },
  };
}

/** The run asked the partner for this one reservation. */
export const isRequestedById = ({ mode, cause }: Arrival): boolean => mode === 'single' && cause === 'run';
