import { hash } from 'node:crypto';
import { sealSecret } from '../core/documents/keyring.ts';
import type { DocumentKind, LoadedDocument } from '../core/documents/kinds.ts';
import { parseFile } from '../core/documents/parse.ts';
import type { Path } from '../core/documents/path.ts';
import { literalSecrets, type TypedSecret, withReferences } from '../core/documents/typed-secrets.ts';
import type { Tx } from '../core/store/db/pool.ts';
import type { DocumentToApply } from '../core/store/documents/documents.ts';
import { putSecret } from '../core/store/documents/secrets.ts';
import { hmacSha256, type Keyring } from '../kit/crypto.ts';
import type { Json } from '../terms.ts';
import type { Keys } from './keys.ts';

/** Moves typed credentials into the sealed secrets. Source and body keep references to them. */
export async function sealTyped(
  tx: Tx,
  context: { readonly keyring: Keyring; readonly keys: Pick<Keys, 'hashKeys'> },
  document: DocumentToApply,
): Promise<{ source: string; body: Json }> {
  const sealed = sealable(context.keys, document);
  if (sealed === undefined) return document;
  await putTyped(tx, context.keyring, sealed.secrets);
  return { source: sealed.document.source, body: sealed.document.body as unknown as Json };
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

/** The hashes of the text as the store has it, one for each key that may have named its references. */
export const textsOf = (...of: Parameters<typeof storedSources>): string[] =>
  storedSources(...of).map((text) => hash('sha256', text));

/** A known body without credentials saves the reading. */
function storedSources(
  { hashKeys }: Pick<Keys, 'hashKeys'>,
  document: Pick<LoadedDocument, 'kind' | 'name' | 'source'> & Partial<Pick<LoadedDocument, 'body'>>,
): string[] {
  const { kind, name, source, body } = document;
  if (body !== undefined && literalSecrets(kind, body).length === 0) return [source];
  return hashKeys.map((key) => withReferences(kind, source, referenceName({ hashKeys: [key] }, kind, name)).text);
}

/** References are named by content, so that the same text applied twice has the same references. */
function referenceName({ hashKeys: [key] }: Pick<Keys, 'hashKeys'>, kind: DocumentKind, name: string) {
  return (at: Path, value: string): string => {
    const content = JSON.stringify([kind, name, at, value]);
    return `typed_${hmacSha256(key.bytes, content).toString('hex').slice(0, 32)}`;
  };
}

export async function putTyped(tx: Tx, keyring: Keyring, secrets: readonly TypedSecret[]): Promise<void> {
  for (const { name, value } of secrets) await putSecret(tx, name, sealSecret(keyring, name, value));
}
