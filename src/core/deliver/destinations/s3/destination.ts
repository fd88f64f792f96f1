import { foreignText } from '../../../../kit/foreign-text.ts';
import type { DestinationType, Outcome } from '../../destination.ts';
import { openLake } from '../../lake/destination.ts';
import { lakeHoldings } from '../../lake/holdings.ts';
import { bucketStore, NoAnswer, Refused } from './bucket.ts';
import { type Settings, settingsSchema } from './settings.ts';

const timeoutMs = 120_000;
const slowDownMs = 5_000;

/** Objects in a bucket. */
export const destinationType: DestinationType<Settings> = {
  type: 's3',
  settings: settingsSchema,
  batch: () => ({ standard: 2_000, most: 20_000 }),
  timeoutMs: () => timeoutMs,
  holdings: (settings, services, held) => lakeHoldings(bucketStore(settings, services, timeoutMs), held, failure),
  open(settings, services) {
    const { clock, brandIdsOf, brandOf } = services;
    return openLake({
      store: bucketStore(settings, services, timeoutMs),
      settings,
      brandIdsOf,
      brandOf,
      clock,
      failure,
    });
  },
};

/** Only names and codes: a message may quote keys of objects and ids of access keys. */
function failure(error: unknown): Outcome {
  if (error instanceof NoAnswer) {
    const message = `${error.message}.`;
    if (error.reason === 'blocked') return { kind: 'dead', code: 'deliver.blocked_address', message };
    return { kind: 'retry', code: 'deliver.unreachable', message };
  }
  if (!(error instanceof Refused)) {
    const message = `Writing failed: ${foreignText((error as Error).name)}.`;
    return { kind: 'retry', code: 'deliver.write_failed', message };
  }
  const { status } = error;
  const code = foreignText(error.code);
  // Without a status: no record is to blame, so the circuit opens and no tries are used up.
  if (status === 401 || status === 403) {
    return { kind: 'retry', code: 'deliver.auth_failed', message: `The bucket refuses access: ${code}.` };
  }
  if (status === 429 || status === 503) {
    const message = `The service asks to slow down: ${code}.`;
    const wait = { status, afterMs: slowDownMs, free: true };
    // A gateway may answer 503 although the object was written.
    return { kind: 'retry', code: 'deliver.rate_limited', message, ...wait, mayHaveArrived: true };
  }
  return { kind: 'retry', code: 'deliver.write_failed', message: `Writing failed: ${code}, ${status}.` };
}
