import type { LoadedDocument } from '../documents/kinds.ts';
import { type FileOffered, type LastApplied, textKey } from '../documents/take-up.ts';
import { hmacSha256 } from '../kit/crypto.ts';
import type { Tx } from '../store/db/pool.ts';
import { pastContents, storedTexts } from '../store/documents/documents.ts';
import type { Keys } from './keys.ts';
import { keyOf, textHashOf } from './last-applied.ts';
import { storedSources } from './seal-documents.ts';

type HashKeys = Pick<Keys, 'hashKeys'>;

/** Compares the files with the documents in force and their earlier versions: by content, and by text where that may differ. `current`: the documents in force, by key. */
export async function filesOffered(
  tx: Tx,
  keys: HashKeys,
  documents: readonly LoadedDocument[],
  current: ReadonlyMap<string, { readonly hash: string }>,
  lastApplied: LastApplied = {},
): Promise<FileOffered[]> {
  const contents = await pastContents(tx);
  const files = documents.map((document) => {
    const key = keyOf(document);
    const hashes = keyedHashes(keys, document.hash);
    return {
      document,
      key,
      textHash: textHashOf(document.source),
      inForce: hashes.includes(current.get(key)?.hash ?? ''),
      isPast: hashes.some((one) => contents.has(`${key} ${one}`)),
    };
  });
  // Hashing the texts of all versions takes long; most files are as they were at the last apply.
  const isUnsure = (one: (typeof files)[number]) => !one.isPast || lastApplied[textKey(one.key)] !== one.textHash;
  const unsure = files.filter(isUnsure).map(({ document }) => document);
  const texts = await storedTexts(tx, unsure);
  return files.map(({ document, key, textHash, inForce, isPast }) => {
    const stored = storedSources(keys, document).map((text) => texts.get(`${key} ${textHashOf(text)}`));
    const isNewText = stored.every((one) => one === undefined);
    return {
      key,
      hash: document.hash,
      textHash,
      inForce: inForce || (!isPast && stored.includes('in force')),
      wasInForce: isPast || !isNewText,
      isNewText,
    };
  });
}

/** Keyed, because a plain hash of a body with a typed password would allow guessing the password from a stolen database. */
export const keyedHashes = ({ hashKeys }: HashKeys, hash: string): string[] =>
  hashKeys.map(({ bytes }) => hmacSha256(bytes, hash).toString('hex'));
