import { type Document, parseDocument, stringify } from 'yaml';
import { z } from 'zod';
import { noIntegration } from '../errors/no-integration.ts';
import { InnboundError } from '../errors.ts';
import { randomSecret } from '../kit/crypto.ts';
import { randomId } from '../kit/ids.ts';
import { asks } from '../onboard/checklist.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { documentsAround } from '../store/documents/documents.ts';
import { insertLink, type OnboardingLink, openLink } from '../store/operate/onboarding.ts';
import { type ApplyOptions, applyDocument, type EditedDocument } from './edit-documents.ts';
import { addressFor, publicUrl } from './endpoints.ts';

export const onboardingLanguages = ['en', 'pt', 'de', 'es', 'fr'] as const;

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
  const brand = runtime.active().integrations.get(integration);
  if (brand === undefined) {
    throw new InnboundError('documents.unknown_name', noIntegration(integration, runtime.active().integrations.keys()));
  }
  const { push, pull, paused, deliver, stream, pulled_by } = brand.body;
  const addsPush = request.asks.includes('push') && !push.enabled;
  const addsPull = request.asks.includes('pull') && pull === undefined && !paused;
  // Set before anything can arrive: a lane that is open when the brand goes live may send before it is closed.
  const isFed = push.enabled || (pull !== undefined && !paused) || (stream ?? pulled_by) !== undefined;
  const isNew = !isFed && deliver.length > 0;
  if (addsPush || addsPull || isNew) {
    await editInForce(runtime, 'integration', integration, by, (yaml) => {
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
  brand: NonNullable<LinkRequest['brand']>,
  by: string,
): Promise<void> {
  const { country, ...rest } = brand;
  const connector = { connector: name };
  await apply(runtime, { kind: 'connector', name, text: stringify(connector) }, by, { replaces: 0 });
  const integration = { integration: name, ...connector, ...rest, ...(country !== undefined && { country }) };
  await apply(runtime, { kind: 'integration', name, text: stringify(integration) }, by, { replaces: 0 });
}

export type Opened =
  | { readonly kind: 'ok'; readonly link: OnboardingLink; readonly browser: string }
  | { readonly kind: 'unknown' | 'expired' | 'revoked' | 'elsewhere' };

/** Binds the link to a browser, whose secret is kept in its cookie. */
export async function openOnboarding(
  { pool }: Pick<Runtime, 'pool'>,
  linkId: string,
  token: string,
  known: string | undefined,
): Promise<Opened> {
  const browser = known ?? randomSecret();
  const opened = await openLink(pool, linkId, token, browser);
  if (opened === undefined) return { kind: 'unknown' };
  const ended = endOf(opened.link);
  if (ended !== undefined) return { kind: ended };
  return opened.isBound ? { kind: 'ok', link: opened.link, browser } : { kind: 'elsewhere' };
}

export function endOf({ revoked_at, is_expired }: OnboardingLink): 'revoked' | 'expired' | undefined {
  if (revoked_at !== null) return 'revoked';
  return is_expired ? 'expired' : undefined;
}

/** Edits a document that is in force; comments and order stay. Throws with the reason if the result cannot be put in force. */
export async function editInForce(
  runtime: Runtime,
  kind: 'integration' | 'connector',
  name: string,
  by: string,
  edit: (yaml: Document) => void,
): Promise<void> {
  const before = await inForce(runtime, kind, name);
  const yaml: Document = parseDocument(before.source, { uniqueKeys: false });
  edit(yaml);
  const text = yaml.toString({ lineWidth: 0 });
  await apply(runtime, { kind, name, text }, by, { replaces: before.version, acceptCases: true });
}

async function apply(runtime: Runtime, document: EditedDocument, by: string, options: ApplyOptions): Promise<void> {
  const applied = await applyDocument(runtime, document, by, options);
  if (applied.kind === 'applied') return;
  const why =
    applied.kind === 'invalid'
      ? applied.mistakes.map(({ path, message }) => `${path}: ${message}`).join('; ')
      : `The ${document.kind} cannot be changed here (${applied.kind.replaceAll('_', ' ')}).`;
  throw new InnboundError('operate.invalid_input', why);
}

export async function inForce(runtime: Runtime, kind: 'integration' | 'connector', name: string) {
  const found = (await documentsAround(runtime.pool, [name])).find((one) => one.kind === kind && one.name === name);
  if (found === undefined) throw new InnboundError('operate.not_found', `There is no ${kind} ${name}.`);
  return found;
}
