import type { z } from 'zod';
import {
  type DeliverLimits,
  type Destination,
  type DestinationServices,
  type DestinationType,
  leaseLost,
  type Outcome,
  type Prepared,
  type PreparedStep,
} from '../destination.ts';
import { type BusMessage, busMessage } from './cloud-event.ts';
import { type Codes, failureOf } from './failure.ts';

/** A connection to a bus, or a way to ask it. */
export interface BusClient {
  /**
   * For each message, in their order: its outcome, which is `delivered` once the broker has confirmed it, or the error. Rejects if all
   * failed with the same one.
   */
  publish(messages: readonly BusMessage[], limits: DeliverLimits): Promise<readonly (Outcome | Error)[]>;
  /** What `destination prepare` reads: whether topic, queue or stream exist, and what they do not promise. */
  check(): Promise<readonly PreparedStep[]>;
  close(): Promise<void>;
  /** The largest message, where the broker tells it. */
  readonly mostBytes?: number;
  /** The connection has ended; the next delivery needs another. */
  isClosed?(): boolean;
}

export interface BusType<Settings> {
  readonly type: string;
  /** Its name in a sentence. */
  readonly label: string;
  readonly settings: z.ZodType<Settings>;
  readonly batch: { readonly standard: number; readonly most: number };
  /** What one call of `publish` gets at most. */
  readonly call: { readonly messages: number; readonly bytes: number };
  /** The largest message, as `sizeOf` counts it. */
  readonly mostBytes: (settings: Settings) => number;
  readonly sizeOf: (message: BusMessage) => number;
  /** The least rights that deliveries need. */
  readonly grants: (settings: Settings) => readonly string[];
  readonly codes: Codes;
  connect(settings: Settings, services: DestinationServices): Promise<BusClient>;
}

export const delivered: Outcome = { kind: 'delivered' };

/** Publishes messages at once that are confirmed one by one. */
export const each = (
  messages: readonly BusMessage[],
  publish: (message: BusMessage) => Promise<Outcome>,
): Promise<(Outcome | Error)[]> =>
  Promise.all(messages.map((message) => publish(message).catch((error: Error) => error)));

const timeoutMs = 30_000;

/** A destination type from what is particular to a bus. The library is loaded and the connection made for the first delivery. */
export function busDestination<Settings>(bus: BusType<Settings>): DestinationType<Settings> {
  return {
    type: bus.type,
    settings: bus.settings,
    batch: () => bus.batch,
    timeoutMs: () => timeoutMs,
    findsErasedGuests: false,
    prepare: (settings, services) => prepare(bus, settings, services),
    open: (settings, services) => openBus(bus, settings, services),
  };
}

function openBus<Settings>(bus: BusType<Settings>, settings: Settings, services: DestinationServices): Destination {
  let connecting: Promise<BusClient> | undefined;
  let open: BusClient | undefined;

  function connected(): Promise<BusClient> {
    if (open?.isClosed?.()) void disconnect(open);
    connecting ??= bus.connect(settings, services).then((client) => {
      open = client;
      return client;
    });
    return connecting;
  }

  /** Another delivery may have a new connection already. */
  async function disconnect(from: BusClient | undefined): Promise<void> {
    if (from === open) [connecting, open] = [undefined, undefined];
    await from?.close().catch(() => {});
  }

  async function publish(
    client: BusClient,
    messages: readonly BusMessage[],
    limits: DeliverLimits,
  ): Promise<readonly Outcome[]> {
    // It may be half open.
    const giveUp = () => void disconnect(client);
    limits.signal.addEventListener('abort', giveUp, { once: true });
    try {
      const answers = await client.publish(messages, limits);
      return answers.map((answer) => (answer instanceof Error ? failureOf(bus, answer, 1) : answer));
    } catch (error) {
      const outcome = failureOf(bus, error, messages.length);
      return messages.map(() => outcome);
    } finally {
      limits.signal.removeEventListener('abort', giveUp);
    }
  }

  return {
    async deliver(batch, limits) {
      let client: BusClient;
      try {
        client = await connected();
      } catch (error) {
        void disconnect(undefined);
        const outcome = failureOf(bus, error, 1);
        return batch.map(() => outcome);
      }
      const sized = batch.map(busMessage).map((message) => ({ message, bytes: bus.sizeOf(message) }));
      const most = client.mostBytes ?? bus.mostBytes(settings);
      const outcomes = new Map(sized.map((one) => [one, tooLarge(bus.label, one.bytes, most)]));
      let failed: Outcome | undefined;
      for (const call of callsOf(
        sized.filter((one) => outcomes.get(one) === undefined),
        bus.call,
      )) {
        if (failed === undefined && !(await limits.extend())) failed = leaseLost;
        const messages = call.map(({ message }) => message);
        const sent = failed === undefined ? await publish(client, messages, limits) : [];
        for (const [i, one] of call.entries()) outcomes.set(one, failed ?? sent[i]);
        // The rest would only wait as long.
        failed ??= sent.find(isUnreachable);
      }
      if (failed !== undefined && isUnreachable(failed)) void disconnect(client);
      return sized.map((one) => outcomes.get(one) as Outcome);
    },
    close: () => disconnect(open),
  };
}

const isUnreachable = (outcome: Outcome): boolean =>
  outcome.kind === 'retry' && (outcome.code === 'deliver.unreachable' || outcome.code === 'deliver.auth_failed');

function tooLarge(label: string, bytes: number, most: number): Outcome | undefined {
  if (bytes <= most) return undefined;
  const message = `The message has ${bytes} bytes; ${label} takes at most ${most}.`;
  return { kind: 'dead', code: 'deliver.too_large', message };
}

/** In their order, each part within the limits of one call. */
function callsOf<Item extends { readonly bytes: number }>(
  items: readonly Item[],
  most: BusType<unknown>['call'],
): Item[][] {
  const calls: Item[][] = [];
  let bytes = 0;
  for (const item of items) {
    const last = calls.at(-1);
    bytes += item.bytes;
    if (last !== undefined && last.length < most.messages && bytes <= most.bytes) last.push(item);
    else {
      calls.push([item]);
      bytes = item.bytes;
    }
  }
  return calls;
}

/** Sends nothing: the rights, then whether login and topic are there. */
async function prepare<Settings>(
  bus: BusType<Settings>,
  settings: Settings,
  services: DestinationServices,
): Promise<Prepared> {
  let client: BusClient | undefined;
  const failed = (error: unknown): readonly PreparedStep[] => {
    const outcome = failureOf(bus, error, 1);
    return [{ what: bus.label, result: 'failed', message: 'message' in outcome ? outcome.message : '' }];
  };
  try {
    client = await bus.connect(settings, services);
    return { steps: await client.check(), settings: {}, grants: bus.grants(settings) };
  } catch (error) {
    return { steps: failed(error), settings: {}, grants: bus.grants(settings) };
  } finally {
    await client?.close().catch(() => {});
  }
}
