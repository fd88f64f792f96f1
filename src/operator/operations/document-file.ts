import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseSource } from '../../core/documents/brands.ts';
import { type DocumentKind, workspaceName } from '../../core/documents/kinds.ts';
import { listsBrands, readWorkspace } from '../../core/documents/load.ts';
import { parseFile } from '../../core/documents/parse.ts';
import type { Pool, Tx } from '../../core/store/db/pool.ts';
import { storedTexts } from '../../core/store/documents/documents.ts';
import { writeProblem } from '../../kit/json-file.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { textsOf } from '../../runtime/seal-documents.ts';
import { fileName } from './sources-in-force.ts';

/** The file of a document in the workspace of this node, which an edit through the API also writes. */
interface FileHere {
  /** Relative to the workspace. */
  readonly file: string;
  readonly text: string;
}

/** Undefined if the document has no file here. Most files are named after their document. */
export async function fileHere(dir: string, kind: DocumentKind, name: string): Promise<FileHere | undefined> {
  const usual = fileName(kind, name);
  const text = await readFile(path.join(dir, usual), 'utf8').catch(() => undefined);
  if (text !== undefined && !listsBrands.test(text)) {
    const named = parseFile({ kind, file: usual, text }).name;
    // A file without a readable name is probably being edited.
    if (kind === 'workspace' || named === name || named === undefined) return { file: usual, text };
  }
  const own = (await readWorkspace(dir)).filter((one) => one.kind === kind);
  return own.find((one) => kind === 'workspace' || (one.text.includes(name) && parseFile(one).name === name));
}

/** The brands that files of many brands list here, each with that file and its own text. An edit through the API gives a brand its own file. */
export async function listedBrands(dir: string): Promise<ReadonlyMap<string, FileHere>> {
  const lists = (await readWorkspace(dir)).filter(({ lists }) => lists !== undefined);
  const rows = lists.flatMap(parseSource);
  return new Map(
    rows.flatMap(({ name, source: { file, text } }) => (name === undefined ? [] : [[name, { file, text }]])),
  );
}

/** Where a document without a file gets one. Files may have any name, so the usual one may hold another document. */
export function freeFile(dir: string, kind: DocumentKind, name: string): string {
  const usual = fileName(kind, name);
  for (let i = 1; ; i++) {
    const file = i === 1 ? usual : usual.replace(/\.yaml$/, `-${i}.yaml`);
    if (!existsSync(path.join(dir, file))) return file;
  }
}

/**
 * Whether somebody changed the file and did not apply it yet. An edit through the API would overwrite that. A text that was in force
 * before is not lost: another node has replaced it, and its version is kept.
 */
export async function isUnapplied(
  runtime: Runtime,
  db: Pool | Tx,
  { kind, name, text }: FileHere & { readonly kind: DocumentKind; readonly name: string },
): Promise<boolean> {
  const document = { kind, name: kind === 'workspace' ? workspaceName : name };
  const known = await storedTexts(db, [document]);
  const texts = textsOf(runtime.keys, { ...document, source: text });
  return !texts.some((one) => known.has(`${kind} ${document.name} ${one}`));
}

/** False if the folder is read-only. */
export async function isWritten(write: () => Promise<void>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (writeProblem(error) !== undefined) throw error;
    return false;
  }
}

/** Writes a temporary file and renames it, so that a service that starts meanwhile reads either the old text or the new one. */
export async function writeWhole(dir: string, file: string, text: string): Promise<void> {
  const target = path.join(dir, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(`${target}.new`, text, { mode: 0o600 });
  await rename(`${target}.new`, target);
}
