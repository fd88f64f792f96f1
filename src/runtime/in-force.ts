import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BrokenCase } from '../api/routes/documents.ts';
import { sealSecret } from '../documents/keyring.ts';
import type { DocumentKind, LoadedDocument, LoadedDocuments } from '../documents/kinds.ts';
import { parseFile } from '../documents/parse.ts';
import { type Path, setAt } from '../documents/path.ts';
import { literalSecrets } from '../documents/secret-fields.ts';
import { type LastApplied, takeUp } from '../documents/take-up.ts';
import { type TypedSecret, withReferences } from '../documents/typed-secrets.ts';
import { hmac, type Keyring } from '../kit/crypto.ts';
import type { Serial } from '../kit/serial.ts';
import { type Pool, type Tx, transaction } from '../store/db/pool.ts';
import { signalNodes } from '../store/db/signals.ts';
import {
  type AppliedDocument,
  applyDocuments,
  currentDocuments,
  currentHeads,
  type DocumentName,
  type DocumentToApply,
  lockDocuments,
  pastContents,
  removeDocuments,
  type StoredDocument,
  sealOldVersions,
} from '../store/documents/documents.ts';
import { putSecret } from '../store/documents/secrets.ts';
import type { Json } from '../terms.ts';
import type { Keys } from './keys.ts';

/** The database alone decides which documents are in force. The functions here change that. */
export interface DocumentContext {
  readonly pool: Pool;
  readonly keyring: Keyring;
  readonly keys: Pick<Keys, 'hashKeys'>;
  readonly workspaceDir: string;
}

/** Makes the documents in force equal to the files: applies what is new or changed, removes what is missing. */
export async function applyWorkspace(
  context: DocumentContext,
  loaded: LoadedDocuments,
  by: string,
): Promise<AppliedDocument[]> {
  const documents = documentsOf(loaded);
  const applied = await transaction(context.pool, async (tx) => {
    await lockDocuments(tx);
    const current = await currentHeads(tx);
    const wanted = new Set(documents.map(keyOf));
    const put = await putInForce(tx, context, documents, by);
    return [
      ...put,
      ...(await removeDocuments(
        tx,
        current.filter((one) => !wanted.has(keyOf(one))),
      )),
    ];
  });
  await remember(context, documents);
  await signalNodes(context.pool, 'documents');
  return applied;
}

export type TakenUp =
  /** `behind`: the files that are older than the documents in force. */
  | { readonly kind: 'taken'; readonly behind: readonly string[] }
  /** A file would change the records of a kept sample, so no file was taken up. */
  | { readonly kind: 'breaks_cases'; readonly cases: readonly BrokenCase[] };

/** Applies what is new in the files when a service starts, or nothing if a kept sample would change; see `takeUp`. */
export async function takeUpWorkspace(
  context: DocumentContext,
  loaded: LoadedDocuments,
  by: string,
  brokenCases: (connectors: readonly LoadedDocument[]) => Promise<readonly BrokenCase[]>,
): Promise<TakenUp> {
  const documents = documentsOf(loaded);
  const lastApplied = await readLastApplied(context);
  const taken = await transaction(context.pool, async (tx) => {
    await lockDocuments(tx);
    const current = new Map((await currentHeads(tx)).map((one) => [keyOf(one), one]));
    const past = await pastContents(tx);
    const files = documents.map((document) => {
      const contents = keyedHashes(context, document.hash);
      return {
        key: keyOf(document),
        hash: document.hash,
        inForce: contents.includes(current.get(keyOf(document))?.hash ?? ''),
        past: contents.some((content) => past.has(`${keyOf(document)} ${content}`)),
      };
    });
    const decided = takeUp(files, [...current.keys()], lastApplied);
    const [apply, remove] = [new Set(decided.apply), new Set(decided.remove)];
    const put = documents.filter((one) => apply.has(keyOf(one)));
    const cases = await brokenCases(put.filter((one) => one.kind === 'connector' && current.has(keyOf(one))));
    if (cases.length > 0) return { kind: 'breaks_cases', cases } as const;
    await putInForce(tx, context, put, by);
    const going = [...current.values()].filter((one) => remove.has(keyOf(one)));
    await removeDocuments(tx, await withoutUsed(tx, going));
    return { kind: 'taken', behind: decided.behind } as const;
  });
  if (taken.kind === 'breaks_cases') return taken;
  await remember(context, documents);
  await signalNodes(context.pool, 'documents');
  const files = new Map(documents.map((one) => [keyOf(one), one.file]));
  return { kind: 'taken', behind: taken.behind.map((key) => files.get(key) ?? key) };
}

/**
 * Changes one document. `decide` runs under a lock on the documents in force and may refuse. A node makes its edits one at a time: those
 * that wait for the lock would otherwise take all connections, of which `decide` needs another one.
 */
export async function changeDocument<T>(
  context: DocumentContext & { readonly edits: Serial },
  by: string,
  decide: (tx: Tx) => Promise<
    | {
        readonly put: readonly LoadedDocument[];
        /** Credentials that `put` refers to. */
        readonly secrets?: readonly TypedSecret[];
        readonly remove: readonly Pick<StoredDocument, 'kind' | 'name' | 'version'>[];
        readonly result: (applied: readonly AppliedDocument[]) => T;
      }
    | { readonly refused: T }
  >,
): Promise<T> {
  const change = async (tx: Tx) => {
    await lockDocuments(tx);
    const decided = await decide(tx);
    if ('refused' in decided) return { kind: 'refused', result: decided.refused } as const;
    await putTyped(tx, context.keyring, decided.secrets ?? []);
    const applied = await putInForce(tx, context, decided.put, by);
    const removed = await removeDocuments(tx, decided.remove);
    return { kind: 'changed', ...decided, result: decided.result([...applied, ...removed]) } as const;
  };
  const changed = await context.edits.run(() => transaction(context.pool, change));
  if (changed.kind === 'changed') {
    await remember(context, changed.put, changed.remove);
    await signalNodes(context.pool, 'documents');
  }
  return changed.result;
}

const keyOf = ({ kind, name }: { readonly kind: string; readonly name: string }): string => `${kind} ${name}`;

/** All documents; of the shipped connectors only those in use. */
function documentsOf(loaded: LoadedDocuments): LoadedDocument[] {
  const used = new Set([...loaded.integrations.values()].map(({ body }) => body.connector));
  return [
    ...[...loaded.connectors.values()].filter(({ name, shipped }) => !shipped || used.has(name)),
    ...loaded.integrations.values(),
    ...loaded.destinations.values(),
    loaded.workspace,
  ];
}

/** Without the connectors and destinations that an integration which stays still uses. */
async function withoutUsed<One extends DocumentName>(tx: Tx, going: readonly One[]): Promise<One[]> {
  if (going.every(({ kind }) => kind === 'integration' || kind === 'workspace')) return [...going];
  const names = new Set(going.map(keyOf));
  const staying = (await currentDocuments(tx, 'integration')).filter((one) => !names.has(keyOf(one)));
  const used = staying.flatMap(({ body }) => {
    const { connector = '', deliver = [] } = body as { connector?: string; deliver?: string[] };
    return [`connector ${connector}`, ...deliver.map((name) => `destination ${name}`)];
  });
  const isUsed = new Set(used);
  return going.filter((one) => !isUsed.has(keyOf(one)));
}

function putInForce(tx: Tx, context: DocumentContext, documents: readonly LoadedDocument[], by: string) {
  const stored = documents.map(({ kind, name, source, body, hash }) => {
    const [newest = '', ...older] = keyedHashes(context, hash);
    return { kind, name, source, body: body as unknown as Json, hash: newest, olderHashes: older };
  });
  return applyDocuments(tx, stored, by, (document) => sealTyped(tx, context, document));
}

/** Keyed, because a plain hash of a body with a typed password would allow guessing the password from a stolen database. */
const keyedHashes = ({ keys }: Pick<DocumentContext, 'keys'>, hash: string): string[] =>
  keys.hashKeys.map(({ bytes }) => hmac('sha256', bytes, hash).toString('hex'));

/** Moves typed credentials into the sealed secrets. Source and body keep references to them. */
async function sealTyped(
  tx: Tx,
  context: DocumentContext,
  document: DocumentToApply,
): Promise<{ source: string; body: Json }> {
  const sealed = sealable(context.keys, document);
  if (sealed === undefined) return document;
  await putTyped(tx, context.keyring, sealed.secrets);
  return { source: sealed.document.source, body: sealed.document.body as unknown as Json };
}

/**
 * Moves the credentials in stored versions that an earlier Innbound wrote into the sealed secrets. Works on any version, also on one that
 * today's schema refuses.
 */
export async function sealStored(context: DocumentContext): Promise<void> {
  const some = (tx: Tx) =>
    sealOldVersions(tx, 500, async ({ kind, name, source, body }) => {
      const nameOf = referenceName(context.keys, kind, name);
      const { text, secrets } = withReferences(kind, source, nameOf);
      const typed = literalSecrets(kind, body).map(({ path: at, value }) => ({ at, value, name: nameOf(at, value) }));
      await putTyped(tx, context.keyring, [...secrets, ...typed]);
      const clean = structuredClone(body);
      for (const { at, name: reference } of typed) setAt(clean, at, `\${secret:${reference}}`);
      return { source: text, body: clean };
    });
  while ((await transaction(context.pool, some)) > 0);
}

/** References are named by content, so that the same text applied twice has the same references. */
function referenceName({ hashKeys: [key] }: Pick<Keys, 'hashKeys'>, kind: DocumentKind, name: string) {
  return (at: Path, value: string): string => {
    const content = JSON.stringify([kind, name, at, value]);
    return `typed_${hmac('sha256', key.bytes, content).toString('hex').slice(0, 32)}`;
  };
}

/** A document with references instead of its typed credentials; undefined if it has none. */
export function sealable(
  keys: Pick<Keys, 'hashKeys'>,
  { kind, name, source }: Pick<DocumentToApply, 'kind' | 'name' | 'source'>,
): { readonly document: LoadedDocument; readonly secrets: readonly TypedSecret[] } | undefined {
  const { text, secrets } = withReferences(kind, source, referenceName(keys, kind, name));
  if (secrets.length === 0) return undefined;
  const { document } = parseFile({ kind, file: name, text });
  if (document === undefined) throw new TypeError(`sealing the credentials of ${kind} ${name} made it invalid`);
  return { document, secrets };
}

async function putTyped(tx: Tx, keyring: Keyring, secrets: readonly TypedSecret[]): Promise<void> {
  for (const { name, value } of secrets) await putSecret(tx, name, sealSecret(keyring, name, value));
}

/** The hashes of the files at their last apply. Kept in the folder, because they describe these files and move with them. */
const memoryOf = ({ workspaceDir }: DocumentContext): string => path.join(workspaceDir, '.innbound', 'given.json');

async function readLastApplied(context: DocumentContext): Promise<LastApplied | undefined> {
  try {
    return JSON.parse(await readFile(memoryOf(context), 'utf8')) as LastApplied;
  } catch {
    return undefined;
  }
}

/** Records the hashes of all files, or of one change. Does nothing if the folder is read-only. */
async function remember(
  context: DocumentContext,
  applied: readonly LoadedDocument[],
  gone?: readonly { readonly kind: string; readonly name: string }[],
): Promise<void> {
  const before = gone === undefined ? {} : await readLastApplied(context);
  // Recording one document alone would make all other files look new.
  if (before === undefined) return;
  const forgotten = new Set((gone ?? []).map(keyOf));
  const kept = Object.entries(before).filter(([key]) => !forgotten.has(key));
  const all = Object.fromEntries([...kept, ...applied.map((one) => [keyOf(one), one.hash])]);
  const file = memoryOf(context);
  try {
    await mkdir(path.dirname(file), { recursive: true });
    const draft = `${file}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  } catch {}
}
