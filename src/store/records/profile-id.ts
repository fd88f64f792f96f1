import { createHash } from 'node:crypto';
import type { Guest } from '../../canonical/reservation.ts';
import * as identifiers from '../../persons/identifiers.ts';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The id for a new profile of this guest. */
export const newProfileId = (integration: string, guest: Guest, isTaken: (id: string) => boolean): string | undefined =>
  identifiers.newProfileId(integration, guest, isTaken, digest);
