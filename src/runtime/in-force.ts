import type { DocumentName, LoadedDocument, LoadedDocuments, StoredDocument } from '../core/documents/kinds.ts';
import { hasReference, type Resolve } from '../core/documents/secret-reference.ts';
import type { TypedSecret } from '../core/documents/typed-secrets.ts';
import { type Pool, type Tx, transaction } from '../core/store/db/pool.ts';
import { signalNodes } from '../core/store/db/signals.ts';
import {
  type AppliedDocument,
  applyDocuments,
  currentHeads,
  documentsPosition,
  lockDocuments,
  removeDocuments,
  storedTexts,
} from '../core/store/documents/documents.ts';
import { leaveDestinations } from '../core/store/outbox/leave.ts';
import type { BrokenCase } from '../errors/broken-cases.ts';
import { hmacSha256, type Keyring } from '../kit/crypto.ts';
import type { Serial } from '../kit/serial.ts';
import { writeAudit } from '../operator/store/audit.ts';
import type { Json } from '../terms.ts';
import type { Keys } from './keys.ts';
import { probeAgain } from './probe-again.ts';
import { putTyped, sealTyped, textsOf } from './seal-documents.ts';

/** The database alone decides which documents are in force. The functions here change that. */
export interface DocumentContext {
  readonly pool: Pool;
  readonly keyring: Keyring;
  readonly keys: Pick<Keys, 'hashKeys'>;
  readonly resolve: Resolve;
  readonly workspaceDir: string;
}

/**
 * Makes the documents in force equal to the files: applies what is new or changed, removes what is missing. `check` runs before, under the
 * lock, and may throw.
 */
export async function applyWorkspace(
  context: DocumentContext,
  load: () => Promise<LoadedDocuments>,
  by: string,
  check: (tx: Tx, loaded: LoadedDocuments) => Promise<void> = async () => {},
): Promise<AppliedDocument[]> {
  return withFiles(context, load, async (tx, loaded) => {
    await check(tx, loaded);
    const documents = documentsOf(loaded);
    const current = await currentHeads(tx);
    const wanted = new Set(documents.map(keyOf));
    const put = await putInForce(tx, context, documents, by);
    const gone = current.filter((one) => !wanted.has(keyOf(one)));
    const applied = [...put, ...(await removeDocuments(tx, gone))];
    await leaveDestinations(tx, changedBrands(applied));
    return { applied, result: applied };
  });
}

/**
 * Works on the files under the lock on the documents in force. The files are read before it, because of 100,000 this takes long. They are
 * read again if an edit changed the documents meanwhile: the edit also wrote a file, and the text read before would undo it.
 */
async function withFiles<Loaded, T>(
  context: DocumentContext,
  load: () => Promise<Loaded>,
  work: (tx: Tx, loaded: Loaded) => Promise<InForceChange<T>>,
): Promise<T> {
  const { pool } = context;
  const position = await documentsPosition(pool);
  const loaded = await load();
  const change = await transaction(pool, async (tx) => {
    await lockDocuments(tx);
    return work(tx, (await documentsPosition(tx)) === position ? loaded : await load());
  });
  return announced(context, change);
}

interface InForceChange<T> {
  readonly applied: readonly AppliedDocument[];
  readonly result: T;
}

/** The nodes take up new documents first, so that the probes already use them. */
async function announced<T>(context: DocumentContext, { applied, result }: InForceChange<T>): Promise<T> {
  await signalNodes(context.pool, 'documents');
  const isPut = ({ change }: AppliedDocument) => change === 'new' || change === 'changed';
  await probeAgain(context, applied.filter(isPut));
  return result;
}

export type TakenUp =
  /** `behind`: the files that are older than the documents in force. `leftOut`: files with mistakes; their documents in force stay. */
  | { readonly kind: 'taken'; readonly behind: readonly string[]; readonly leftOut: readonly string[] }
  /** A file would change the records of a kept sample, so no file was taken up. */
  | { readonly kind: 'breaks_cases'; readonly cases: readonly BrokenCase[] };

/** How many documents an audit entry names: of 100,000 new ones the count is enough. */
const mostNamed = 100;

/** Records who changed which documents, if any changed. The API records its edits itself. */
export async function auditApplied(db: Pool | Tx, actor: string, applied: readonly AppliedDocument[]): Promise<void> {
  const changed = applied.filter(({ change }) => change !== 'same');
  if (changed.length === 0) return;
  const documents = changed.slice(0, mostNamed).map(({ kind, name, version }) => `${kind} ${name} version ${version}`);
  const more = changed.length > mostNamed ? { more: changed.length - mostNamed } : {};
  await writeAudit(db, { actor, action: 'documents.apply', target: { documents, ...more } });
}

/**
 * Applies the files when a process starts, or none if a kept sample would change. A database of the workspace's own follows its files: a
 * text that was in force before counts again, and a document without a file is removed. Of a database that nodes share, each with files of
 * its own, only a text that was never in force is new: an older file is that of a node which did not see a later edit.
 */
export async function takeUpWorkspace(
  context: DocumentContext,
  load: () => Promise<{ readonly documents: LoadedDocuments; readonly leftOut: readonly string[] }>,
  by: string,
  brokenCases: (connectors: readonly LoadedDocument[]) => Promise<readonly BrokenCase[]>,
  isOwn: boolean,
): Promise<TakenUp> {
  return withFiles(context, load, async (tx, { documents: loaded, leftOut }): Promise<InForceChange<TakenUp>> => {
    // Without innbound.yaml its defaults would take the place of what is in force.
    const documents = documentsOf(loaded).filter(({ file }) => !leftOut.includes(file));
    const current = new Map((await currentHeads(tx)).map((one) => [keyOf(one), one]));
    const texts = await storedTexts(tx, documents);
    const stateOf = (one: LoadedDocument) =>
      textsOf(context.keys, one)
        .map((text) => texts.get(`${keyOf(one)} ${text}`))
        .find((state) => state !== undefined);
    const older = documents.filter((one) => stateOf(one) === 'past');
    const changed = documents.filter((one) => stateOf(one) === undefined || (isOwn && older.includes(one)));
    const put = withNeeded(documents, new Set(changed.map(keyOf)), current);
    const cases = await brokenCases(put.filter((one) => one.kind === 'connector' && current.has(keyOf(one))));
    if (cases.length > 0) return { applied: [], result: { kind: 'breaks_cases', cases } };
    const here = new Set(documents.map(keyOf));
    // A file that was left out is not a deleted one.
    const gone = isOwn && leftOut.length === 0 ? [...current.values()].filter((one) => !here.has(keyOf(one))) : [];
    const applied = [...(await putInForce(tx, context, put, by)), ...(await removeDocuments(tx, gone))];
    await leaveDestinations(tx, changedBrands(applied));
    await auditApplied(tx, by, applied);
    const behind = older.filter((one) => !put.includes(one)).map(({ file }) => file);
    return { applied, result: { kind: 'taken', behind, leftOut } };
  });
}

/**
 * Changes one document. `decide` runs under a lock on the documents in force and may throw; then what it has written is undone. A node makes
 * its edits one at a time: those that wait for the lock would otherwise take all connections, of which `decide` needs another one.
 */
export async function changeDocument<T>(
  context: DocumentContext & { readonly edits: Serial },
  by: string,
  decide: (tx: Tx) => Promise<{
    readonly put: readonly LoadedDocument[];
    /** Credentials that `put` refers to. */
    readonly secrets?: readonly TypedSecret[];
    readonly remove: readonly Pick<StoredDocument, 'kind' | 'name' | 'version'>[];
    /** The brand goes on elsewhere: destinations keep its records. */
    readonly goesOn?: boolean;
    readonly result: (applied: readonly AppliedDocument[]) => T;
  }>,
): Promise<T> {
  const change = async (tx: Tx) => {
    await lockDocuments(tx);
    const decided = await decide(tx);
    await putTyped(tx, context.keyring, decided.secrets ?? []);
    const applied = await putInForce(tx, context, decided.put, by);
    const removed = await removeDocuments(tx, decided.remove);
    if (decided.goesOn !== true) await leaveDestinations(tx, changedBrands([...applied, ...removed]));
    return { applied, result: decided.result([...applied, ...removed]) };
  };
  return announced(context, await context.edits.run(() => transaction(context.pool, change)));
}

/** Integrations whose list of destinations may have changed. */
const changedBrands = (applied: readonly AppliedDocument[]): string[] =>
  applied.filter(({ kind, change }) => kind === 'integration' && change !== 'same').map(({ name }) => name);

const keyOf = ({ kind, name }: DocumentName): string => `${kind} ${name}`;

/** Keyed, because a plain hash of a body with a typed password would allow guessing the password from a stolen database. */
const keyedHashes = ({ hashKeys }: DocumentContext['keys'], hash: string): string[] =>
  hashKeys.map(({ bytes }) => hmacSha256(bytes, hash).toString('hex'));

function documentsOf({ connectors, integrations, destinations, workspace }: LoadedDocuments): LoadedDocument[] {
  return [...connectors.values(), ...integrations.values(), ...destinations.values(), workspace];
}

async function putInForce(tx: Tx, context: DocumentContext, documents: readonly LoadedDocument[], by: string) {
  const bodies = await Promise.all(documents.map(({ body }) => named(context, body)));
  const stored = documents.map((document, i) => {
    const { kind, name, source } = document;
    const body = bodies[i];
    const [newest = '', ...older] = keyedHashes(context.keys, document.hash);
    const textHashes = textsOf(context.keys, document);
    return { kind, name, source, body: body as unknown as Json, hash: newest, olderHashes: older, textHashes };
  });
  return applyDocuments(tx, stored, by, (document) => sealTyped(tx, context, document));
}

/**
 * The brand's id as it is when the document is applied: it is no secret, and records, events and requests must have the same on every node.
 * A reference that cannot be read stays, and the first run names it.
 */
async function named<Body extends object>({ resolve }: DocumentContext, body: Body): Promise<Body> {
  const { brand_id } = body as { readonly brand_id?: string };
  if (brand_id === undefined || !hasReference(brand_id)) return body;
  const resolved = await resolve({ brand_id });
  return resolved.kind === 'ok' ? { ...body, ...resolved.body } : body;
}

/** The keys of the documents that an integration cannot work without. */
function neededBy(body: unknown): string[] {
  const { connector = '', deliver = [], pulled_by } = body as Partial<LoadedDocument<'integration'>['body']>;
  const poller = pulled_by === undefined ? [] : [`integration ${pulled_by}`];
  return [`connector ${connector}`, ...deliver.map((name) => `destination ${name}`), ...poller];
}

/**
 * Of the files, those to apply and those that their integrations need: one of these may be in force no longer, because it was removed
 * through another node.
 */
function withNeeded(
  files: readonly LoadedDocument[],
  apply: ReadonlySet<string>,
  inForce: ReadonlyMap<string, unknown>,
): LoadedDocument[] {
  const byKey = new Map(files.map((one) => [keyOf(one), one]));
  const wanted = new Set(apply);
  // The set grows while it is read.
  for (const key of wanted) {
    const document = byKey.get(key);
    if (document?.kind !== 'integration') continue;
    for (const needed of neededBy(document.body)) if (!inForce.has(needed) && byKey.has(needed)) wanted.add(needed);
  }
  return files.filter((one) => wanted.has(keyOf(one)));
}
