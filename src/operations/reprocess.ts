import type { Brand } from '../brand/brand.ts';
import { noIntegration } from '../errors/no-integration.ts';
import { InnboundError } from '../errors.ts';
import type { EventType } from '../intake/push/envelope.ts';
import { stateEvent } from '../intake/push/reservation-event.ts';
import { state } from '../pipeline.ts';
import type { Arrival, Outcome, Statement } from '../reconcile/forms.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { rolledBack, transaction } from '../store/db/pool.ts';
import {
  type KeptPayload,
  keptPayloads,
  type PayloadRange,
  reprocessedDifferences,
} from '../store/records/kept-payloads.ts';
import { take } from '../store/records/take.ts';
import type { Json } from '../terms.ts';

export interface ReprocessRequest extends PayloadRange {
  readonly integration: string;
  /** Counts and samples only; changes nothing. */
  readonly preview: boolean;
}

export interface Reprocessed {
  /** Reservations with a kept payload. */
  readonly records: number;
  readonly changed: number;
  readonly unchanged: number;
  /** Reservations that the documents in force refuse or drop; they do not change. */
  readonly refused: number;
  readonly samples: readonly { readonly id: string; readonly diff: Json }[];
}

/** The usual size of a step. */
export const reprocessedAtOnce = 200;
const mostSamples = 5;

/**
 * Processes kept payloads again under the documents in force, for reservations that their partner will not send again soon. The newest
 * payload of each source keeps its original time, so it never overrides newer data.
 */
export async function reprocess(
  runtime: Runtime,
  { integration: name, preview, ...range }: ReprocessRequest,
  onStep?: (done: Reprocessed) => void,
): Promise<Reprocessed> {
  let total = nothing;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { last, ...step } = await reprocessStep(runtime, { integration: name, preview, ...range }, after);
    total = add(total, step);
    onStep?.(total);
    after = last;
  }
  return total;
}

/** How many reservations a preview reads while the operator waits. */
const previewed = 1_000;

/** A preview of the first reservations, and how many were read. */
export async function previewReprocess(
  runtime: Runtime,
  wanted: Omit<ReprocessRequest, 'preview'>,
): Promise<Reprocessed & { readonly lookedAt: number }> {
  let total = nothing;
  let lookedAt = 0;
  for (let after: string | undefined = ''; after !== undefined && lookedAt < previewed; ) {
    const { last, read, ...step } = await reprocessStep(runtime, { ...wanted, preview: true }, after);
    total = add(total, step);
    lookedAt += read;
    after = last;
  }
  return { ...total, lookedAt };
}

/** The next reservations after an id. `last` is undefined after the last step. */
export async function reprocessStep(
  runtime: Runtime,
  { integration: name, preview, ...range }: ReprocessRequest,
  after: string,
  limit = reprocessedAtOnce,
): Promise<Reprocessed & { readonly read: number; readonly last: string | undefined }> {
  const integration = runtime.active().integrations.get(name);
  if (integration === undefined) throw new InnboundError('documents.unknown_name', noIntegration(name));
  const { payloads, read, last } = await keptPayloads(runtime.pool, name, range, after, limit);
  const done = await reprocessBatch(runtime, integration, payloads, preview);
  if (!preview && done.changed > 0) runtime.wake.signal('outbox');
  return { ...done, read, last };
}

const nothing: Reprocessed = { records: 0, changed: 0, unchanged: 0, refused: 0, samples: [] };

/** Processes these payloads under an integration's documents and counts the changes. */
export async function reprocessBatch(
  runtime: Runtime,
  integration: Brand,
  payloads: readonly KeptPayload[],
  preview: boolean,
): Promise<Reprocessed> {
  const statements = payloads.map((payload) => statePayload(integration, payload));
  // A first pass is rolled back: unchanged reservations must get no timeline entry, refused ones no dead letter.
  const { verdicts, samples } = await rolledBack(runtime.pool, async (tx) => {
    const { outcomes } = await take(tx, integration, statements);
    const found = verdictsOf(payloads, outcomes);
    const changed = [...found].filter(([, verdict]) => verdict === 'changed').map(([id]) => id);
    return {
      verdicts: found,
      samples: await reprocessedDifferences(tx, integration.integration, changed.slice(0, mostSamples)),
    };
  });
  const count = (wanted: Verdict) => [...verdicts.values()].filter((verdict) => verdict === wanted).length;
  if (!preview && count('changed') > 0) {
    const changing = statements.filter((_, i) => verdicts.get(payloads[i]?.id ?? '') === 'changed');
    await transaction(runtime.pool, (tx) => take(tx, integration, changing));
  }
  return {
    records: verdicts.size,
    changed: count('changed'),
    unchanged: count('unchanged'),
    refused: count('refused'),
    samples,
  };
}

export function statePayload(brand: Brand, { id, mode, raw, effectiveAt, event }: KeptPayload): Statement {
  const causeId = `connector ${brand.connectorVersion}, integration ${brand.integrationVersion}`;
  const arrival: Arrival = { mode, effectiveAt: effectiveAt.getTime(), cause: 'reprocess', causeId };
  if (mode !== 'push') return state(brand, { key: id, value: raw }, arrival);
  const type = (event ?? 'reservation.updated') as EventType;
  return stateEvent(brand, { event: type, data: raw }, arrival);
}

type Verdict = 'changed' | 'unchanged' | 'refused';

/** One verdict per reservation: refused if any of its payloads is, changed if any changes it. */
function verdictsOf(payloads: readonly KeptPayload[], outcomes: readonly Outcome[]): Map<string, Verdict> {
  const verdicts = new Map<string, Verdict>();
  for (const [i, { id }] of payloads.entries()) {
    const { outcome = 'unchanged' } = outcomes[i] ?? {};
    const before = verdicts.get(id);
    if (outcome === 'dead' || outcome === 'dropped') verdicts.set(id, 'refused');
    else if (before === 'refused') continue;
    else if (outcome !== 'unchanged' && outcome !== 'superseded') verdicts.set(id, 'changed');
    else verdicts.set(id, before ?? 'unchanged');
  }
  return verdicts;
}

function add(a: Reprocessed, b: Reprocessed): Reprocessed {
  return {
    records: a.records + b.records,
    changed: a.changed + b.changed,
    unchanged: a.unchanged + b.unchanged,
    refused: a.refused + b.refused,
    samples: [...a.samples, ...b.samples].slice(0, mostSamples),
  };
}
