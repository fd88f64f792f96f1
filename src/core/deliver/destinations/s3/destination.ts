import { foreignText } from '../../../../kit/foreign-text.ts';
import type { Destination, DestinationType, Holdings, Outcome } from '../../destination.ts';
import { openLake } from '../../lake/destination.ts';
import { digestOfMessage, lakeHoldings } from '../../lake/holdings.ts';
import { NoAnswer } from './requests.ts';
import { type Settings, settingsSchema } from './settings.ts';

const timeoutMs = 120_000;
const slowDownMs = 5_000;

/** Objects in a bucket. The client is large (0.4 s and 36 MB to load), so only a service with such a destination loads it. */
export const destinationType: DestinationType<Settings> = {
  type: 's3',
  settings: settingsSchema,
  batch: () => ({ standard: 2_000, most: 20_000 }),
  timeoutMs: () => timeoutMs,
  holdings(settings, { http }, held) {
    let opened: Promise<Holdings> | undefined;
    const open = async () => {
      const { bucketStore, statusOf } = await import('./bucket.ts');
      const store = bucketStore(settings, http, timeoutMs);
      const lake = lakeHoldings(store, held, (error) => failureOf(error, statusOf(error)));
      return { ...lake, close: async () => store.close() };
    };
    const lake = () => {
      opened ??= open();
      return opened;
    };
    return {
      begin: held.clear,
      rows: async (...asked) => (await lake()).rows(...asked),
      digestOf: digestOfMessage,
      ids: held.ids,
      integrations: async () => (await (await lake()).integrations?.()) ?? [],
      close: async () => (await opened)?.close(),
    };
  },
  open(settings, { clock, http, brandIdsOf, brandOf }) {
    let opened: Promise<{ lake: Destination; close(): void }> | undefined;
    const open = async () => {
      const { bucketStore, statusOf } = await import('./bucket.ts');
      const store = bucketStore(settings, http, timeoutMs);
      const failure = (error: unknown) => failureOf(error, statusOf(error));
      const lake = openLake({ store, settings, brandIdsOf, brandOf, clock, failure });
      return { lake, close: () => store.close() };
    };
    return {
      deliver: async (batch, limits) => {
        opened ??= open();
        return (await opened).lake.deliver(batch, limits);
      },
      close: async () => {
        const { lake, close } = (await opened) ?? {};
        await lake?.close();
        close?.();
      },
    };
  },
};

/** Only names and codes: the client's messages quote keys of objects and ids of access keys. */
function failureOf(error: unknown, status: number | undefined): Outcome {
  if (error instanceof NoAnswer) {
    if (error.reason === 'blocked')
      return { kind: 'dead', code: 'deliver.blocked_address', message: `${error.message}.` };
    return { kind: 'retry', code: 'deliver.unreachable', message: `${error.message}.` };
  }
  const name = foreignText((error as Error).name);
  // Without a status: no record is to blame, so the circuit opens and no tries are used up.
  if (status === 401 || status === 403) {
    return { kind: 'retry', code: 'deliver.auth_failed', message: `The bucket refuses access: ${name}.` };
  }
  if (status === 429 || status === 503) {
    const message = `The service asks to slow down: ${name}.`;
    const wait = { status, afterMs: slowDownMs, free: true };
    // A gateway may answer 503 although the object was written.
    return { kind: 'retry', code: 'deliver.rate_limited', message, ...wait, mayHaveArrived: true };
  }
  const said = status === undefined ? name : `${name}, ${status}`;
  return { kind: 'retry', code: 'deliver.write_failed', message: `Writing failed: ${said}.` };
}
