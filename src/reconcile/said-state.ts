import type { EpochMs } from '../terms.ts';
import type { StoredViews } from './said.ts';

/** What is written for a record besides its content. */
export interface SaidState {
  readonly effectiveAt: EpochMs;
  readonly seq: number;
  readonly said: StoredViews | undefined;
  readonly pulledHash: string | undefined;
}

export const saidText = (said: StoredViews | undefined): string | undefined =>
  said === undefined ? undefined : JSON.stringify(said);
