import type { BrokenCase } from '../api/routes/documents.ts';
import type { LoadedDocument, LoadedDocuments } from '../documents/kinds.ts';
import { takeUp } from '../documents/take-up.ts';
import type { TypedSecret } from '../documents/typed-secrets.ts';
import { hmac, type Keyring } from '../kit/crypto.ts';
import type { Log } from '../kit/log.ts';
import type { Serial } from '../kit/serial.ts';
import { type Pool, type Tx, transaction } from '../store/db/pool.ts';
import { signalNodes } from '../store/db/signals.ts';
import {
  type AppliedDocument,
  applyDocuments,
  currentDocuments,
  currentHeads,
  type DocumentName,
  lockDocuments,
  pastContents,
  removeDocuments,
  type StoredDocument,
} from '../store/documents/documents.ts';
import type { Json } from '../terms.ts';
import type { Keys } from './keys.ts';
import { keyOf, readLastApplied, rememberApplied } from './last-applied.ts';
import { putTyped, sealTyped } from './seal-documents.ts';

/** The database alone decides which documents are in force. The functions here change that. */
export interface DocumentContext {
  readonly pool: Pool;
  readonly keyring: Keyring;
  readonly keys: Pick<Keys, 'hashKeys'>;
  readonly workspaceDir: string;
  readonly log: Pick<Log, 'warn'>;
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
  await rememberApplied(context, documents);
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
  const lastApplied = await readLastApplied(context.workspaceDir);
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
  await rememberApplied(context, documents);
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
    await rememberApplied(context, changed.put, changed.remove);
    await signalNodes(context.pool, 'documents');
  }
  return changed.result;
}

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

/** Without the connectors and destinations that the remaining integrations use. */
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
