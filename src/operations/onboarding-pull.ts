import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';
import type { Brand } from '../brand/brand.ts';
import { roomsByNight } from '../documents/measures.ts';
import { errors, InnboundError } from '../errors.ts';
import { compare, contactFields } from '../onboard/checklist.ts';
import { noPushFacts, type PullFacts } from '../onboard/facts.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { type OnboardingLink, saveCheck, savePullFacts } from '../store/operate/onboarding.ts';
import { type IntegrationName, isObject, type Json } from '../terms.ts';
import { checkConformance, isCheckable } from './conformance.ts';
import { dryRunDay } from './dry-run.ts';
import { inForce } from './edit-documents.ts';
import { fetchSample } from './fetch-sample.ts';
import { offThread } from './off-thread.ts';
import { editOrThrow, ownsConnector } from './onboarding.ts';
import { partnerFields } from './onboarding-view.ts';
import { fillRates } from './preview-mapping.ts';
import { bookingIn } from './sandbox.ts';

/** What a partner says about its API. */
export const pullForm = z.strictObject({
  base_url: z.string().max(500),
  /** As in a document; absent keeps the stored credentials. */
  auth: z.record(z.string(), z.unknown()).optional(),
  /** How the list is asked for, where the partner describes a system that we do not know. */
  list: z
    .strictObject({
      method: z.enum(['GET', 'POST']),
      path: z.string().min(1).max(300),
      /** The parameters for the first and the last day. */
      from: z.string().max(80),
      to: z.string().max(80),
      paging: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
    })
    .optional(),
});
type PullForm = z.infer<typeof pullForm>;

const standardSyncs = {
  pre_stay: { every: '60m', range: ['+1d', '+90d'] },
  stay: { every: '15m', range: ['-6d', '0d'] },
  post_stay: { every: '60m', range: ['-7d', '-1d'] },
};

/** Puts the partner's answers in force. The brand is paused, so nothing is pulled yet. */
export async function savePull(runtime: Runtime, link: OnboardingLink, form: PullForm, by: string): Promise<void> {
  const { integration } = link;
  const brand = rehearsing(runtime, link);
  refuseReferences(form as unknown as Json);
  const before = brand.body.pull;
  // Stored credentials must never travel to an address that somebody else has typed.
  const isMoved = before === undefined || !isSameHost(before.base_url, form.base_url);
  if (isMoved && form.auth === undefined) {
    throw new InnboundError('operate.invalid_input', 'A new address needs the credentials again.');
  }
  if (form.list && ownsConnector(runtime, integration)) {
    await saveList(runtime, brand.connector.name, form.list, by);
  }
  await editOrThrow(runtime, 'integration', integration, by, (yaml) => {
    if (isMoved) yaml.set('pull', yaml.createNode({ syncs: before?.syncs ?? standardSyncs }));
    yaml.setIn(['pull', 'base_url'], form.base_url);
    if (form.auth) yaml.setIn(['pull', 'auth'], yaml.createNode(form.auth));
  });
}

/** The brand, before it goes live. Afterwards its connection and its answers are the operator's. */
function rehearsing(runtime: Runtime, { integration, live_at }: OnboardingLink): Brand {
  const brand = runtime.active().integrations.get(integration);
  if (brand?.body.paused && live_at === null) return brand;
  throw new InnboundError('operate.forbidden', 'The brand is live: ask the operator to change its connection.');
}

/** A reference would read a secret of somebody else. */
function refuseReferences(value: Json): void {
  if (typeof value === 'string' && value.includes(`\${`)) {
    throw new InnboundError(
      'operate.invalid_input',
      'A reference to a stored value is not allowed here: type the value.',
    );
  }
  if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) refuseReferences(one ?? null);
}

function isSameHost(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  return a !== null && b !== null && a.origin === b.origin;
}

async function saveList(
  runtime: Runtime,
  connector: string,
  list: NonNullable<PullForm['list']>,
  by: string,
): Promise<void> {
  const { method, path, from, to, paging } = list;
  const days = { ...(from !== '' && { [from]: '{window.from}' }), ...(to !== '' && { [to]: '{window.to}' }) };
  const request = { method, path, [method === 'POST' ? 'body' : 'query']: days };
  await editOrThrow(runtime, 'connector', connector, by, (yaml) => {
    const before: unknown = yaml.toJS().pull?.request;
    yaml.setIn(['pull', 'request'], yaml.createNode(request));
    if (from === '' && to === '') yaml.setIn(['pull', 'window'], 'none');
    else yaml.deleteIn(['pull', 'window']);
    if (paging) yaml.setIn(['pull', 'pagination'], yaml.createNode(paging));
    else if (!yaml.hasIn(['pull', 'pagination'])) yaml.setIn(['pull', 'pagination'], yaml.createNode({ type: 'none' }));
    // Another request may have another answer: the mapping is proposed again. Saving the same one keeps what an operator corrected.
    if (JSON.stringify(before) === JSON.stringify(request)) return;
    for (const key of ['shape', 'map', 'values']) yaml.delete(key);
  });
}

/** Of the last two one is enough to reach a guest; the checklist tells them apart. */
const needed = ['check_in', 'check_out', 'status', 'guests', 'guests.last_name', ...contactFields];

/**
 * Asks the partner's API at once, proposes a mapping where there is none, and keeps what it showed for the checklist. Returns three of the
 * partner's records as we read them, in how many of them each field has a value, and what no line of the mapping reads.
 */
export async function testPull(runtime: Runtime, link: OnboardingLink, by: string) {
  const integration = link.integration as IntegrationName;
  rehearsing(runtime, link);
  const fetched = await fetchSample(runtime, integration);
  if (fetched.kind === 'failed') {
    await savePullFacts(runtime.pool, link.link_id, { ...noPull(runtime), failure: fetched.code });
    const { code, message, request } = fetched;
    return { request, failure: { code, message, meaning: errors[code].what }, records: [], filled: [], unread: [] };
  }
  await proposeMapping(runtime, integration, fetched.sample, by);
  const brand = rehearsing(runtime, link);
  const { source: connector } = await inForce(runtime, 'connector', brand.connector.name);
  const read = await offThread(runtime, 'preview', {
    asked: { connector, sample: fetched.sample, push: false, limit: 100 },
    integration: brand.body,
    spellings: runtime.active().settings.spellings,
  });
  const shown = read.records.filter(isObject).filter(({ kind }) => kind === 'record');
  const facts = await walk(runtime, link, shown);
  await savePullFacts(runtime.pool, link.link_id, facts);
  const failure = read.problem && { ...read.problem, meaning: errors[read.problem.code].what };
  return {
    request: fetched.request,
    ...(failure && { failure }),
    records: shown
      .slice(0, 3)
      .map(({ record = null, origins }) =>
        partnerFields(record, isObject(origins ?? null) ? (origins as Record<string, string>) : {}),
      ),
    filled: read.filled,
    unread: [...new Set(shown.flatMap(({ unmapped }) => (Array.isArray(unmapped) ? unmapped.map(String) : [])))].slice(
      0,
      40,
    ),
  };
}

/** Judges the API by the rules of the interface, after a test that could read it. The page follows its progress in the facts. */
export async function checkPull(runtime: Runtime, link: OnboardingLink, signal: AbortSignal): Promise<void> {
  rehearsing(runtime, link);
  if (link.pull_facts?.check === undefined) return;
  const save = (requests: number) => saveCheck(runtime.pool, link.link_id, { requests });
  const checked = await checkConformance(runtime, link.integration as IntegrationName, save, signal);
  if (checked) await saveCheck(runtime.pool, link.link_id, checked);
}

/** Fills the shape and the mapping of a connector that has none, from the partner's own answer. */
async function proposeMapping(runtime: Runtime, integration: string, sample: string, by: string): Promise<void> {
  const brand = runtime.active().integrations.get(integration);
  if (brand === undefined || !ownsConnector(runtime, integration)) return;
  const { source } = await inForce(runtime, 'connector', brand.connector.name);
  const present: Document = parseDocument(source, { uniqueKeys: false });
  if (present.has('map') || present.has('shape')) return;
  const suggested = await offThread(runtime, 'suggest', { sample, name: brand.connector.name });
  if (suggested.kind !== 'ok') return;
  const proposed: Document = parseDocument(suggested.connector, { uniqueKeys: false });
  await editOrThrow(runtime, 'connector', brand.connector.name, by, (yaml) => {
    for (const key of ['shape', 'map', 'values', 'unknown_status']) {
      if (proposed.has(key)) yaml.set(key, proposed.get(key, true));
    }
    // `none` was the assumption before the first answer.
    const paging = proposed.getIn(['pull', 'pagination']);
    if (paging !== undefined && yaml.getIn(['pull', 'pagination', 'type']) === 'none') {
      yaml.setIn(['pull', 'pagination'], paging);
    }
  });
}

const noPull = (runtime: Runtime): PullFacts => ({
  testedAt: runtime.clock.now(),
  isComplete: false,
  bookings: 0,
  pages: 0,
  unreadable: 0,
  unknown: [],
  isShort: false,
  missing: [],
  shared: 0,
  differing: [],
});

const unknownStatus = (record: Json): string[] =>
  isObject(record) && record.status === 'other' ? [String(record.status_raw ?? '').slice(0, 40)] : [];

/** Reads today's list to its end, as a real run would. */
async function walk(
  runtime: Runtime,
  link: OnboardingLink,
  sampled: readonly { readonly record?: Json }[],
): Promise<PullFacts> {
  const { integration } = link;
  const run = await dryRunDay(runtime, integration, undefined);
  if (run.kind === 'failed') return { ...noPull(runtime), failure: run.code };
  const records = run.records.flatMap(({ record }) => (record === undefined ? [] : [record]));
  const rates = new Map(fillRates(records).map((one) => [one.field, one]));
  const isRare = (field: string) => {
    const { filled, of } = rates.get(field) ?? { filled: 0, of: records.length };
    return filled < 0.9 * of;
  };
  const { rooms_available: capacity } = runtime.active().integrations.get(integration)?.body ?? {};
  const [, rooms] = roomsByNight(capacity).findLast(([from]) => from <= run.day) ?? [];
  const shown = [...records, ...sampled.map(({ record = null }) => record)];
  const listed = shown.flatMap((one) => bookingIn(one) ?? []);
  return {
    ...noPull(runtime),
    isComplete: run.status === 'complete',
    bookings: run.counts.fetched,
    pages: run.counts.pages,
    unreadable: run.counts.dead_lettered,
    unknown: [...new Set(shown.flatMap(unknownStatus))].slice(0, 10),
    isShort: run.warning !== undefined,
    missing: needed.filter(isRare),
    ...(rooms !== undefined && { rooms }),
    ...((await isCheckable(runtime, integration as IntegrationName)) && { check: { requests: 0 } }),
    ...compare((link.push_facts ?? noPushFacts).bookings, listed),
  };
}
