import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';
import type { Brand } from '../../core/brand/brand.ts';
import { roomsByNight } from '../../core/documents/measures.ts';
import { hasReference } from '../../core/documents/secret-reference.ts';
import type { Tx } from '../../core/store/db/pool.ts';
import { errors, InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type IntegrationName, isObject, type Json } from '../../terms.ts';
import { compare, contactFields } from '../onboard/checklist.ts';
import { noPushFacts, type PullFacts } from '../onboard/facts.ts';
import { type OnboardingLink, saveCheck, savePullFacts, takeBackReady } from '../store/onboarding.ts';
import { checkConformance, isCheckable } from './conformance.ts';
import { dryRunDay } from './dry-run.ts';
import { inForce } from './edit-documents.ts';
import { fetchSample, mostTestedBytes } from './fetch-sample.ts';
import { offThread } from './off-thread.ts';
import { editOrThrow, holdLink, ownsConnector, settingsHash, withLink } from './onboarding.ts';
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

/** Puts the partner's answers in force. The brand is paused, so nothing is pulled yet. What it was ready with is taken back. */
export async function savePull(
  runtime: Runtime,
  { integration, link_id }: OnboardingLink,
  form: PullForm,
  by: string,
): Promise<void> {
  const brand = rehearsing(runtime, integration);
  refuseReferences(form);
  const within = async (tx: Tx) => {
    await holdLink(tx, link_id, 'partner', 'pull');
    await takeBackReady(tx, link_id);
  };
  // Stored credentials must never travel to an address that somebody else has typed.
  const isMoved = (before: unknown) => typeof before !== 'string' || !isSameHost(before, form.base_url);
  if (form.auth === undefined && isMoved(brand.body.pull?.base_url)) throw needsCredentials();
  if (form.list && ownsConnector(runtime, integration)) {
    await saveList(runtime, brand.connector.name, form.list, by, within);
  }
  const edit = (yaml: Document) => {
    if (isMoved(yaml.getIn(['pull', 'base_url']))) {
      // Another edit may have moved it since.
      if (form.auth === undefined) throw needsCredentials();
      yaml.set('pull', yaml.createNode({ syncs: yaml.toJS().pull?.syncs ?? standardSyncs }));
    }
    yaml.setIn(['pull', 'base_url'], form.base_url);
    if (form.auth) yaml.setIn(['pull', 'auth'], yaml.createNode(form.auth));
  };
  await editOrThrow(runtime, 'integration', integration, by, edit, within);
}

const needsCredentials = () => new InnboundError('operate.invalid_input', 'A new address needs the credentials again.');

/** The brand while it is paused for its link. An operator may have resumed it. */
function rehearsing(runtime: Runtime, integration: string): Brand {
  const brand = runtime.active().integrations.get(integration);
  if (brand?.body.paused) return brand;
  throw new InnboundError('operate.forbidden', 'The brand is live: ask the operator to change its connection.');
}

/** A reference would read a secret of somebody else. */
function refuseReferences(form: PullForm): void {
  if (!hasReference(JSON.stringify(form))) return;
  const message = 'A reference to a stored value is not allowed here: type the value.';
  throw new InnboundError('operate.invalid_input', message);
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
  within: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  const { method, path, from, to, paging } = list;
  const days = { ...(from !== '' && { [from]: '{window.from}' }), ...(to !== '' && { [to]: '{window.to}' }) };
  const request = { method, path, [method === 'POST' ? 'body' : 'query']: days };
  const edit = (yaml: Document) => {
    const before: unknown = yaml.toJS().pull?.request;
    yaml.setIn(['pull', 'request'], yaml.createNode(request));
    if (from === '' && to === '') yaml.setIn(['pull', 'window'], 'none');
    else yaml.deleteIn(['pull', 'window']);
    if (paging) yaml.setIn(['pull', 'pagination'], yaml.createNode(paging));
    else if (!yaml.hasIn(['pull', 'pagination'])) yaml.setIn(['pull', 'pagination'], yaml.createNode({ type: 'none' }));
    // Another request may have another answer: the mapping is proposed again. Saving the same one keeps what an operator corrected.
    if (JSON.stringify(before) === JSON.stringify(request)) return;
    for (const key of ['shape', 'map', 'values']) yaml.delete(key);
  };
  await editOrThrow(runtime, 'connector', connector, by, edit, within);
}

/** Of the last two one is enough to reach a guest; the checklist tells them apart. */
const needed = ['check_in', 'check_out', 'status', 'guests', 'guests.last_name', ...contactFields];

/**
 * Asks the partner's API at once, proposes a mapping where there is none, and keeps what it showed for the checklist. Returns three of the
 * partner's records as we read them, in how many of them each field has a value, and what no line of the mapping reads.
 */
export async function testPull(runtime: Runtime, link: OnboardingLink, by: string) {
  const integration = link.integration as IntegrationName;
  const before = rehearsing(runtime, integration);
  const fetched = await fetchSample(runtime, integration, runtime.sandboxOffload);
  if (fetched.kind === 'failed') {
    await save(runtime, link, before, { ...noPull(runtime), failure: fetched.code });
    const { code, message, request } = fetched;
    return { request, failure: { code, message, meaning: errors[code].what }, records: [], filled: [], unread: [] };
  }
  if ((await proposeMapping(runtime, link, fetched.sample, by)) === 'empty') {
    await save(runtime, link, before, noPull(runtime));
    return { request: fetched.request, records: [], filled: [], unread: [] };
  }
  const brand = rehearsing(runtime, integration);
  const { source: connector } = await inForce(runtime, 'connector', brand.connector.name);
  const read = await offThread(runtime, 'preview', {
    asked: { connector, sample: fetched.sample, push: false, limit: 100 },
    integration: brand.body,
    spellings: runtime.active().settings.spellings,
  });
  const shown = read.records.filter(isObject).filter(({ kind }) => kind === 'record');
  const facts = await walk(runtime, link, shown);
  await save(runtime, link, brand, facts);
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

/** Keeps what a test has shown for the settings that it tested. */
async function save(
  runtime: Runtime,
  { link_id, integration }: OnboardingLink,
  tested: Brand,
  facts: Omit<PullFacts, 'settings'>,
): Promise<void> {
  await withLink(runtime, link_id, 'partner', 'test', async (tx) => {
    await runtime.refresh();
    const now = runtime.active().integrations.get(integration);
    const isSame =
      now?.integrationVersion === tested.integrationVersion && now.connector.version === tested.connector.version;
    if (!isSame) throw new InnboundError('operate.invalid_input', 'The settings changed during the test: test again.');
    await savePullFacts(tx, link_id, { ...facts, settings: settingsHash(tested) });
  });
}

/** Judges the API by the rules of the interface, after a test that could read it. The page follows its progress in the facts. */
export async function checkPull(runtime: Runtime, link: OnboardingLink, signal: AbortSignal): Promise<void> {
  const { link_id, integration, pull_facts: facts } = link;
  rehearsing(runtime, integration);
  if (facts?.check === undefined) return;
  const saveChecked = (checked: PullFacts['check']) =>
    withLink(runtime, link_id, 'partner', 'check', (tx) => saveCheck(tx, link_id, facts, checked));
  const onRequest = (requests: number) => saveChecked({ requests });
  const checked = await checkConformance(runtime, integration as IntegrationName, onRequest, signal);
  if (checked) await saveChecked(checked);
}

/** Fills the shape and the mapping of a connector that has none, from the partner's own answer. An empty list has nothing to read them from. */
async function proposeMapping(
  runtime: Runtime,
  { integration, link_id }: OnboardingLink,
  sample: string,
  by: string,
): Promise<'empty' | undefined> {
  const brand = runtime.active().integrations.get(integration);
  if (brand === undefined || !ownsConnector(runtime, integration)) return undefined;
  const { source } = await inForce(runtime, 'connector', brand.connector.name);
  const present: Document = parseDocument(source, { uniqueKeys: false });
  if (present.has('map') || present.has('shape')) return undefined;
  const suggested = await offThread(runtime, 'suggest', { sample, name: brand.connector.name });
  if (suggested.kind !== 'ok') return suggested.isEmpty ? 'empty' : undefined;
  const proposed: Document = parseDocument(suggested.connector, { uniqueKeys: false });
  const edit = (yaml: Document) => {
    for (const key of ['shape', 'map', 'values', 'unknown_status']) {
      if (proposed.has(key)) yaml.set(key, proposed.get(key, true));
    }
    // `none` was the assumption before the first answer.
    const paging = proposed.getIn(['pull', 'pagination']);
    if (paging !== undefined && yaml.getIn(['pull', 'pagination', 'type']) === 'none') {
      yaml.setIn(['pull', 'pagination'], paging);
    }
  };
  const within = (tx: Tx) => holdLink(tx, link_id, 'partner', 'test');
  await editOrThrow(runtime, 'connector', brand.connector.name, by, edit, within);
  return undefined;
}

const noPull = (runtime: Runtime): Omit<PullFacts, 'settings'> => ({
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
): Promise<Omit<PullFacts, 'settings'>> {
  const { integration } = link;
  const run = await dryRunDay(runtime, integration, undefined, mostTestedBytes);
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
