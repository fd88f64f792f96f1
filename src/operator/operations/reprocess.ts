import { activate, documentsOf } from '../../core/brand/active.ts';
import type { Brand } from '../../core/brand/brand.ts';
import { parseDocument } from '../../core/documents/check.ts';
import type { Statement, StatementOutcome } from '../../core/reconcile/forms.ts';
import { rolledBack, transaction } from '../../core/store/db/pool.ts';
import type { KeptPayload } from '../../core/store/records/entry-payload.ts';
import { ingest } from '../../core/store/records/ingest.ts';
import {
  keptPayloads,
  newestPayloads,
  type PayloadRange,
  reprocessedDifferences,
} from '../../core/store/records/kept-payloads.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { isObject, type Json } from '../../terms.ts';
import type { JobRow } from '../store/jobs.ts';
import { namedBrand } from './endpoints.ts';
import { offThread } from './off-thread.ts';
import { statePayload } from './prepare-letter.ts';
import { recordedIntegration } from './recorded-documents.ts';
import { refetchReservation } from './refetch.ts';
import { guestStatements, reprocessGuestEvents } from './reprocess-guests.ts';

interface ReprocessRequest extends PayloadRange {
  readonly integration: string;
  /** Counts and samples only; changes nothing. */
  readonly preview: boolean;
  /** In whose name reservations are requested from the partner whose payload cannot be processed; without it, none is. */
  readonly refetchBy?: string | undefined;
}

/** A reservation that was not processed again, and why. */
type Refusal = JobRow['refusals'][number];

const nothing = {
  read: 0,
  /** Reservations with a kept payload. */
  records: 0,
  changed: 0,
  unchanged: 0,
  /** Reservations that the documents in force refuse, or whose payload lacks what they read; they do not change. */
  refused: 0,
  /** Reservations without a kept payload; counted only without a range of days. */
  without_payload: 0,
  /** Reservations that the partner was asked for instead. */
  refetched: 0,
  /** The first of those that were refused or have no payload. */
  refusals: [] as readonly Refusal[],
  samples: [] as readonly { readonly id: string; readonly diff: Json }[],
};
export type Reprocessed = Readonly<typeof nothing>;

/** The usual size of a step. */
export const reprocessedAtOnce = 200;
const mostSamples = 5;

/**
 * Processes kept payloads again under the documents in force, for reservations that their partner will not send again soon. They keep
 * their times, so they never override newer data.
 */
export async function reprocess(
  runtime: Runtime,
  request: ReprocessRequest,
  { onStep, most = Infinity }: { readonly onStep?: (done: Reprocessed) => void; readonly most?: number } = {},
): Promise<Reprocessed> {
  let total: Reprocessed = nothing;
  for (let after: Place | undefined = 0; after !== undefined && total.read < most; ) {
    const { last, ...step } = await reprocessStep(runtime, request, after);
    total = add(total, step);
    onStep?.(total);
    after = last;
  }
  return total;
}

/** First the guests' own events, by number, then the reservations, by id: a booking fills what its guest's profile no longer has. */
export type Place = number | string;

/** The next events or reservations after a place. `last` is undefined after the last step. */
export async function reprocessStep(
  runtime: Runtime,
  { integration: name, preview, refetchBy, ...range }: ReprocessRequest,
  after: Place,
  limit = reprocessedAtOnce,
): Promise<Reprocessed & { readonly last: Place | undefined }> {
  const integration = namedBrand(runtime, name, { isLimited: true });
  const told: Told =
    typeof after === 'number' ? await guestEvents(runtime, integration, range, preview, after, limit) : nothing;
  if (told.last !== undefined) return { ...told, last: told.last };
  const { payloads, ids, last } = await keptPayloads(
    runtime.pool,
    name,
    range,
    typeof after === 'number' ? '' : after,
    limit,
  );
  const guests = await guestStatements(runtime.pool, integration, ids, range);
  const done = add(told, await reprocessBatch(runtime, integration, payloads, preview, guests));
  if (!preview && done.changed > 0) runtime.wake.signal('outbox');
  const kept = new Set(payloads.map(({ id }) => id));
  const isWhole = range.from === undefined && range.to === undefined;
  const missing = isWhole ? ids.filter((id) => !kept.has(id)) : [];
  const refusals = [...done.refusals, ...missing.map((id) => ({ id, reason: 'No payload of it is stored any more.' }))];
  const step = { ...done, without_payload: missing.length, refusals, read: ids.length, last };
  return preview || refetchBy === undefined
    ? step
    : { ...step, ...(await refetched(runtime, name, refusals, refetchBy)) };
}

/** With `last` if there are more of them. */
type Told = Reprocessed & { readonly last?: number | undefined };

async function guestEvents(
  runtime: Runtime,
  brand: Brand,
  range: PayloadRange,
  preview: boolean,
  after: number,
  limit: number,
): Promise<Told> {
  const inOne = preview ? rolledBack : transaction;
  const { last, changed } = await inOne(runtime.pool, (tx) => reprocessGuestEvents(tx, brand, range, after, limit));
  if (!preview && changed.size > 0) runtime.wake.signal('outbox');
  return { ...nothing, changed: changed.size, ...(last !== undefined && { last }) };
}

/** Requests these reservations from the partner; what is left of the refusals says why it failed. */
async function refetched(
  runtime: Runtime,
  integration: string,
  wanted: readonly Refusal[],
  by: string,
): Promise<Pick<Reprocessed, 'refetched' | 'refusals'>> {
  const refusals: Refusal[] = [];
  for (const { id, reason } of wanted) {
    const answer = await refetchReservation(runtime, integration, id, by);
    if (answer.kind === 'applied' && answer.outcome !== 'dead') continue;
    const why =
      answer.kind === 'absent'
        ? 'the partner does not have it.'
        : answer.kind === 'failed'
          ? `${answer.code}, ${answer.message}`
          : 'the answer is a dead letter.';
    refusals.push({ id, reason: `${reason} Requested again: ${why}` });
  }
  return { refetched: wanted.length - refusals.length, refusals };
}

/** Processes these payloads under an integration's documents and counts the changes. */
async function reprocessBatch(
  runtime: Runtime,
  integration: Brand,
  payloads: readonly KeptPayload[],
  preview: boolean,
  guests: readonly Statement[] = [],
): Promise<Reprocessed> {
  const { refused, readable, statements: stated } = await stateAll(runtime, integration, payloads);
  const own = guests.filter(({ id }) => !refused.has(id));
  const statements = [...stated, ...own];
  const about = [...readable, ...own];
  // A first pass is rolled back: refused reservations must get no dead letter.
  const { changed, samples } = await rolledBack(runtime.pool, async (tx) => {
    const { outcomes } = await ingest(tx, integration, statements);
    for (const [id, reason] of refusedIn(about, outcomes)) refused.set(id, reason);
    const changed = changedIn(about, outcomes).difference(refused);
    const shown = [...changed].slice(0, mostSamples);
    return { changed, samples: await reprocessedDifferences(tx, integration.integration, shown) };
  });
  if (!preview && changed.size > 0) {
    const changing = statements.filter((_, i) => changed.has(about[i]?.id ?? ''));
    await transaction(runtime.pool, (tx) => ingest(tx, integration, changing));
  }
  const records = new Set([...payloads, ...guests].map(({ id }) => id)).size;
  return {
    ...nothing,
    records,
    changed: changed.size,
    unchanged: records - changed.size - refused.size,
    refused: refused.size,
    refusals: [...refused].map(([id, reason]) => ({ id, reason })),
    samples,
  };
}

/** What these payloads say now. `refused`: reservations with one that cannot be read, and why. */
export async function stateAll(runtime: Runtime, brand: Brand, payloads: readonly KeptPayload[]) {
  const refused = await withoutSurroundings(runtime, brand, payloads);
  const readable = payloads.filter(({ id }) => !refused.has(id));
  return { refused, readable, statements: readable.map((payload) => statePayload(brand, payload)) };
}

/** Reservations whose mapping looks at a part of the response that the mapping of then did not read, so that it was not stored. */
async function withoutSurroundings(
  runtime: Runtime,
  brand: Brand,
  payloads: readonly KeptPayload[],
): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  const earlier = new Map<string, Brand | undefined>();
  for (const { id, mode, sent, connectorVersion, integrationVersion } of payloads) {
    const needed = sent.kind === 'record' ? brand.shapers[mode].outside(sent.raw) : undefined;
    if (sent.kind !== 'record' || needed === undefined || needed.size === 0) continue;
    const [version, ofConnector] = [integrationVersion ?? 0, connectorVersion ?? 0];
    const key = `${version} ${ofConnector}`;
    if (!earlier.has(key))
      earlier.set(key, await recordedIntegration(runtime, brand.integration, version, ofConnector));
    const kept = earlier.get(key)?.shapers[mode].outside(sent.raw);
    const lost = [...needed].find((place) => !kept?.has(place));
    if (lost !== undefined)
      refused.set(id, `The mapping reads ${lost.split(' ')[0]}, which is not stored with its payload.`);
  }
  return refused;
}

const refusedIn = (
  about: readonly { readonly id: string }[],
  outcomes: readonly StatementOutcome[],
): [string, string][] =>
  about.flatMap(({ id }, i) => {
    const { outcome, reason = '' } = outcomes[i] ?? {};
    return outcome === 'dead' ? [[id, reason]] : [];
  });

const idle: ReadonlySet<string> = new Set(['unchanged', 'superseded', 'dropped', 'dead']);

const changedIn = (about: readonly { readonly id: string }[], outcomes: readonly StatementOutcome[]): Set<string> =>
  new Set(about.flatMap(({ id }, i) => (idle.has(outcomes[i]?.outcome ?? 'unchanged') ? [] : [id])));

function add(a: Reprocessed, b: Reprocessed): Reprocessed {
  return {
    read: a.read + b.read,
    records: a.records + b.records,
    changed: a.changed + b.changed,
    unchanged: a.unchanged + b.unchanged,
    refused: a.refused + b.refused,
    without_payload: a.without_payload + b.without_payload,
    refetched: a.refetched + b.refetched,
    refusals: [...a.refusals, ...b.refusals].slice(0, 1_000),
    samples: [...a.samples, ...b.samples].slice(0, mostSamples),
  };
}

/** What a connector text that is not in force would do to the reservations that a brand received last. Changes nothing. */
export async function mappingEffect(runtime: Runtime, name: string, text: string) {
  const inForce = namedBrand(runtime, name, { isLimited: true });
  const parsed = parseDocument(text, 'connector.yaml', 'connector');
  const mistake = (message: string) => new InnboundError('operate.invalid_input', `The connector: ${message}`);
  if (parsed.kind === 'invalid') throw mistake(parsed.mistakes[0]?.message ?? 'does not match the schema');
  const [connector, integration, workspace] = documentsOf(inForce);
  const edited = {
    ...connector,
    version: connector.version + 1,
    body: named(parsed.document.body as Json, connector.name),
  };
  const active = activate([edited, integration, workspace], runtime.active().erasure);
  const brand = active.integrations.get(name);
  if (brand === undefined) throw mistake(active.broken[0]?.message ?? 'cannot be used');
  const payloads = await newestPayloads(runtime.pool, name, 100);
  // First in a worker with a deadline: the mapping may be built to take very long.
  await offThread(runtime, 'prepareMany', { brand: [edited, integration, workspace], payloads });
  const { records, changed, unchanged, refused, samples } = await reprocessBatch(runtime, brand, payloads, true);
  return { records, changed, unchanged, refused, samples };
}

const named = (body: Json, name: string): Json => (isObject(body) ? { ...body, connector: name } : body);
