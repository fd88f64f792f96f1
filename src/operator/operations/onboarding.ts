import { hash } from 'node:crypto';
import { type Document, isMap, stringify } from 'yaml';
import { z } from 'zod';
import { startRun } from '../../composition/pull.ts';
import type { Brand } from '../../core/brand/brand.ts';
import { addDays, localDateAt } from '../../core/canonical/values.ts';
import type { Mistake } from '../../core/documents/mistake.ts';
import { type Tx, transaction } from '../../core/store/db/pool.ts';
import { endpointStatus } from '../../core/store/events/endpoints.ts';
import { InnboundError } from '../../errors.ts';
import { randomSecret } from '../../kit/crypto.ts';
import { randomId } from '../../kit/ids.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { asks, type Check, checklist } from '../onboard/checklist.ts';
import { noPushFacts } from '../onboard/facts.ts';
import { type LinkAction, linkRefusal } from '../onboard/states.ts';
import {
  addComment,
  insertLink,
  lockLink,
  markLive,
  markSecret,
  mostComments,
  type OnboardingLink,
  onboardingLanguages,
  openLink,
  revokeLink,
} from '../store/onboarding.ts';
import { applyDocument, editInForce } from './edit-documents.ts';
import { addressFor, namedBrand, publicUrl } from './endpoints.ts';

export const linkRequest = z.strictObject({
  partner: z.string().trim().min(1).max(80).describe('Who gets the link; shown on the page and in the audit log.'),
  asks: z
    .array(z.enum(asks))
    .min(1)
    .default([...asks]),
  language: z.enum(onboardingLanguages).default('en'),
  days: z.int().min(1).max(90).default(14).describe('Days until it expires.'),
  many_browsers: z.boolean().default(false).describe('By default only the first browser that opens it can use it.'),
  brand: z
    .strictObject({
      brand_id: z.string().min(1),
      timezone: z.string().min(1),
      country: z.string().optional(),
      deliver: z.array(z.string()).default([]),
    })
    .optional()
    .describe('Creates the brand, with a connector of its own that the partner’s answers fill.'),
});
type LinkRequest = z.infer<typeof linkRequest>;

/**
 * Creates a link with which a partner connects one brand. A way that the brand does not use yet begins in rehearsal: events are reported and
 * not stored, pulls are paused. The token is after the #, so that no server or proxy logs it, and only its hash is stored.
 */
export async function createLink(
  runtime: Runtime,
  integration: string,
  { days, brand: created, ...request }: LinkRequest,
  by: string,
): Promise<{ readonly link: OnboardingLink; readonly url: string }> {
  if (created !== undefined) await createBrand(runtime, integration, created, by);
  const brand = namedBrand(runtime, integration);
  const { push, pull, paused, deliver, stream, pulled_by } = brand.body;
  const addsPush = request.asks.includes('push') && !push.enabled;
  const addsPull = request.asks.includes('pull') && pull === undefined && !paused;
  // Set before anything can arrive: a lane that is open when the brand goes live may send before it is closed.
  const isFed = push.enabled || (pull !== undefined && !paused) || (stream ?? pulled_by) !== undefined;
  const isNew = !isFed && deliver.length > 0;
  if (addsPush || addsPull || isNew) {
    await editOrThrow(runtime, 'integration', integration, by, (yaml) => {
      if (addsPush) yaml.set('push', yaml.createNode({ enabled: true, sandbox: true }, { flow: true }));
      if (addsPull) yaml.set('paused', true);
      if (isNew) yaml.set('preview', yaml.createNode(deliver, { flow: true }));
    });
  }
  if (request.asks.includes('push')) await addressFor(runtime, integration);
  const token = randomSecret();
  const link = await insertLink(runtime.pool, {
    ...request,
    integration,
    link_id: randomId('onb'),
    connector_version: brand.connector.version,
    token,
    createdBy: by,
    lifeMs: days * 86_400_000,
  });
  return { link, url: `${await publicUrl(runtime)}/connect/${link.link_id}#${token}` };
}

async function createBrand(
  runtime: Runtime,
  name: string,
  { country, ...brand }: NonNullable<LinkRequest['brand']>,
  by: string,
): Promise<void> {
  const connector = { connector: name };
  const integration = { integration: name, ...connector, ...brand, ...(country !== undefined && { country }) };
  for (const [kind, body] of Object.entries({ connector, integration }) as ['connector' | 'integration', object][])
    await orRefused(kind, applyDocument(runtime, { kind, name, text: stringify(body) }, by, { replaces: 0 }));
}

/** Binds the link to a browser, whose secret is kept in its cookie. */
export async function openOnboarding(
  { pool }: Pick<Runtime, 'pool'>,
  linkId: string,
  token: string,
  known: string | undefined,
) {
  const browser = known ?? randomSecret();
  const opened = await openLink(pool, linkId, token, browser);
  if (opened === undefined) return { kind: 'unknown' } as const;
  const ended = linkRefusal(opened.link, 'partner', 'open');
  if (ended !== undefined) return { kind: ended } as const;
  if (!opened.isBound) return { kind: 'elsewhere' } as const;
  return { kind: 'ok', link: opened.link, browser } as const;
}

/** The link, locked until the transaction ends. Throws if its state does not allow this to the actor. */
export async function holdLink<Actor extends keyof LinkAction>(
  tx: Tx,
  linkId: string,
  actor: Actor,
  action: LinkAction[Actor],
): Promise<OnboardingLink> {
  const link = await lockLink(tx, linkId);
  if (link === undefined) throw new InnboundError('operate.not_found', `There is no onboarding link ${linkId}.`);
  const refusal = linkRefusal(link, actor, action);
  if (refusal === undefined) return link;
  if (refusal !== 'live') throw new InnboundError('operate.link_ended', `The link is ${refusal}.`);
  const message =
    actor === 'partner'
      ? 'The brand is live: ask the operator to change its connection.'
      : 'The brand is live already.';
  throw new InnboundError('operate.forbidden', message);
}

/** Does something to a link in the transaction in which its state allows it. */
export const withLink = <Actor extends keyof LinkAction, T>(
  { pool }: Pick<Runtime, 'pool'>,
  linkId: string,
  actor: Actor,
  action: LinkAction[Actor],
  work: (tx: Tx, link: OnboardingLink) => Promise<T>,
): Promise<T> => transaction(pool, async (tx) => work(tx, await holdLink(tx, linkId, actor, action)));

export const revoke = (runtime: Pick<Runtime, 'pool'>, linkId: string): Promise<boolean> =>
  withLink(runtime, linkId, 'operator', 'revoke', (tx) => revokeLink(tx, linkId));

export async function comment(
  runtime: Pick<Runtime, 'pool'>,
  linkId: string,
  said: Parameters<typeof addComment>[2],
): Promise<void> {
  const write = (tx: Tx) => addComment(tx, linkId, said);
  const isAdded = await (said.side === 'operator'
    ? withLink(runtime, linkId, 'operator', 'answer', write)
    : withLink(runtime, linkId, 'partner', 'comment', write));
  if (isAdded) return;
  const message = `This link has ${mostComments} comments of the ${said.side} already: create a new link.`;
  throw new InnboundError('operate.invalid_input', message);
}

/** Edits a document of the brand. Throws with the reason if the result cannot be put in force, or if `within` throws. */
export async function editOrThrow(
  runtime: Runtime,
  kind: 'integration' | 'connector',
  name: string,
  by: string,
  edit: (yaml: Document) => void,
  within?: (tx: Tx) => Promise<unknown>,
): Promise<void> {
  const options = { acceptCases: true, ...(within && { within }) };
  await orRefused(kind, editInForce(runtime, { kind, name }, by, edit, options));
}

/** The refusal of an edit in the words of what was typed on the page, which knows no files. */
async function orRefused(kind: string, edited: Promise<unknown>): Promise<void> {
  await edited.catch((error: unknown) => {
    if (!(error instanceof InnboundError)) throw error;
    const isOfEdit = error.code.startsWith('documents.') || error.code === 'operate.conflict';
    if (!isOfEdit) throw error;
    const { mistakes = [] } = error.detail as { readonly mistakes?: readonly Mistake[] };
    const why = mistakes.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new InnboundError('operate.invalid_input', why || `The ${kind} cannot be changed here.`, {}, error);
  });
}

/** Every one is tried on each request. */
const mostSecrets = 5;

/** A new webhook secret, shown once; earlier ones stay valid for a day, so that the sender can switch. */
export async function takeSecret(runtime: Runtime, link: OnboardingLink): Promise<string> {
  await withLink(runtime, link.link_id, 'partner', 'secret', (tx) => markSecret(tx, link.link_id));
  const status = await endpointStatus(runtime.pool, link.integration);
  if (((status?.secrets ?? []) as unknown[]).length >= mostSecrets) {
    throw new InnboundError(
      'operate.busy',
      `There are ${mostSecrets} valid secrets. Earlier ones end after a day; try again then.`,
    );
  }
  const { secret } = await addressFor(runtime, link.integration, { rotate: true });
  if (secret === undefined) throw new TypeError('a rotation makes a secret');
  return secret;
}

/** The error as a partner may read it: the names of other brands here say whom else we serve. */
export function withoutOthers({ active }: Pick<Runtime, 'active'>, own: string, error: unknown): unknown {
  if (!(error instanceof InnboundError)) return error;
  const isOther = (word: string) => word !== own && active().documents.has(word);
  const message = error.message.replace(/[a-z0-9_-]+/g, (word) => (isOther(word) ? 'another brand' : word));
  return new InnboundError(error.code, message);
}

/** A connector of the brand's own name that no other brand uses describes only this partner, so its answers may fill it. */
export function ownsConnector(runtime: Runtime, integration: string): boolean {
  const { documents } = runtime.active();
  if (documents.get(integration)?.body.connector !== integration) return false;
  return !documents.values().some(({ name, body }) => body.connector === integration && name !== integration);
}

/** What the pull of a brand depends on. Another hash has not been tested. */
export function settingsHash(brand: Brand | undefined): string {
  const { pull, brand_id, timezone } = brand?.body ?? {};
  return hash('sha256', JSON.stringify([pull, brand_id, timezone, brand?.connector.body]));
}

export function checksOf(
  runtime: Pick<Runtime, 'active'>,
  { integration, asks, push_facts, pull_facts, live_at }: OnboardingLink,
): { readonly checks: readonly Check[]; readonly is_complete: boolean } {
  // What was approved stays as it was, whatever the operator changes later.
  const isTested =
    live_at !== null || pull_facts?.settings === settingsHash(runtime.active().integrations.get(integration));
  const { checks, isComplete } = checklist(asks, push_facts ?? noPushFacts, (isTested && pull_facts) || undefined);
  return { checks, is_complete: isComplete };
}

const nowhere = 'The brand delivers to nobody: name a destination, or none on purpose.';

/** How long the link shows the health of the feed. */
const shownMs = 30 * 86_400_000;

interface Approval {
  /** Days before and after today that are pulled first. */
  readonly pastDays: number;
  readonly futureDays: number;
  /** Although the checklist has gaps. */
  readonly anyway: boolean;
  /** Where its bookings go, held in preview; empty: nowhere, on purpose. Needed if the document names no destination. */
  readonly deliver?: readonly string[] | undefined;
}

/** What is so from now on. */
interface WentLive {
  readonly run_id: string | null;
  readonly deliver: readonly string[];
  /** Of these, the ones that wait for a release. */
  readonly preview: readonly string[];
}

/**
 * Ends the rehearsal: the same address stores events from now on, polls begin, and a first backfill fills the brand. Its deliveries wait
 * until an operator has looked at them and releases them.
 */
export async function goLive(
  runtime: Runtime,
  { link_id, integration }: OnboardingLink,
  { pastDays, futureDays, anyway, deliver }: Approval,
  by: string,
): Promise<WentLive> {
  const isNowhere = deliver === undefined && runtime.active().documents.get(integration)?.body.deliver.length === 0;
  const edit = (yaml: Document) => {
    if (deliver !== undefined) yaml.set('deliver', yaml.createNode(deliver, { flow: true }));
    if (deliver !== undefined && deliver.length > 0) yaml.set('preview', yaml.createNode(deliver, { flow: true }));
    yaml.delete('paused');
    const push = yaml.get('push');
    if (isMap(push)) push.delete('sandbox');
  };
  await editOrThrow(runtime, 'integration', integration, by, edit, async (tx) => {
    const link = await holdLink(tx, link_id, 'operator', 'approve');
    const open = checksOf(runtime, link).checks.filter(({ state, isOptional }) => state !== 'done' && !isOptional);
    const gaps = open.length > 0 ? `The checklist is not complete: ${open.map(({ id }) => id).join(', ')}.` : undefined;
    const why = link.ready_at === null ? `${link.partner} has not said that it is ready.` : gaps;
    if (why !== undefined && !anyway) throw new InnboundError('operate.not_ready', why);
    if (isNowhere) throw new InnboundError('operate.not_ready', nowhere);
    await markLive(tx, integration, shownMs);
  });
  const { pull, timezone, deliver: to = [], preview = [] } = runtime.active().integrations.get(integration)?.body ?? {};
  const now = { deliver: to, preview };
  if (pull === undefined || timezone === undefined) return { ...now, run_id: null };
  const today = localDateAt(timezone, runtime.clock.now());
  const range = { from: addDays(today, -pastDays), to: addDays(today, futureDays) };
  const started = await startRun(runtime, integration, { kind: 'backfill', requestedBy: by, ...range });
  runtime.wake.signal('schedules');
  if (started.kind === 'failed') return { ...now, run_id: null };
  return { ...now, run_id: started.kind === 'busy' ? started.runId : started.run.runId };
}
