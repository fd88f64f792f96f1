import type { DestinationName } from '../../terms.ts';
import type { DestinationConfig } from './ports.ts';

/**
 * An internal destination keeps the guest profiles of a brand. Changes of reservations reach it through the outbox like any other, in
 * order and again after a crash, and intake does not wait for it. Only brands with a destination that receives guests have it.
 */
export const profilesDestination = 'innbound:profiles' as DestinationName;

export const profilesConfig: DestinationConfig = {
  name: profilesDestination,
  type: 'profiles',
  revision: '1',
  settings: {},
  selection: { receives: ['reservation'], fields: (_type, data) => data },
  scheduleMs: [1_000, 5_000, 60_000, 600_000, 3_600_000],
  batch: 200,
  batchWaitMs: 0,
  concurrency: 2,
  timeoutMs: 60_000,
  paused: false,
};
