import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDocument } from 'yaml';
import { compileCheck } from '../active.ts';
import type { ApiPorts } from '../api/api.ts';
import type { Applied } from '../api/routes/documents.ts';
import { checkFiles } from '../documents/check.ts';
import { type DocumentKind, workspaceName } from '../documents/kinds.ts';
import { readWorkspace } from '../documents/load.ts';
import { parseFile, type SourceFile } from '../documents/parse.ts';
import { valueAt } from '../documents/path.ts';
import { jsonSchema } from '../documents/published-schemas.ts';
import { applyWorkspace, type Ground, shippedConnectorsDir } from '../ground.ts';
import { documentText, documentVersions, listDocuments } from '../store/document-list.ts';
import { currentDocuments } from '../store/documents.ts';

/** Documents over the API: the same files that people edit, checked as a whole, written and put in force together. */
export function documentPorts(ground: Ground): ApiPorts['documents'] {
  const { pool } = ground;
  return {
    list: (kind) => listDocuments(pool, kind),
    text: (kind, name, version) => documentText(pool, kind, name, version),
    versions: (kind, name) => documentVersions(pool, kind, name),
    schema: jsonSchema,
    validate: async (kind, name, text) => {
      const { file, files } = await placed(ground, kind, name, text);
      const checked = checkFiles(files, [compileCheck]);
      return checked.kind === 'ok' ? [] : checked.mistakes.filter((mistake) => mistake.file === file);
    },
    apply: (kind, name, text, by) =>
      oneAtATime(async () => {
        const whole = await unmasked(ground, kind, name, text);
        const { file, files } = await placed(ground, kind, name, whole);
        const named = parseFile({ kind, file, text: whole }).name;
        if (kind !== 'workspace' && named !== undefined && named !== name) {
          const message = `the document is named ${named}, not ${name}`;
          return { kind: 'invalid', mistakes: [{ file, line: 1, column: 1, path: kind, message }] };
        }
        return written(ground, files, kind, name, by, file, () => writeWhole(ground, file, whole));
      }),
    remove: (kind, name, by) =>
      oneAtATime(async () => {
        const sources = await readWorkspace(ground.workspaceDir, { shippedConnectorsDir });
        const found = fileOf(sources, kind, name);
        if (found === undefined || found.shipped) return { kind: 'unknown' };
        const rest = sources.filter((source) => source !== found);
        return written(ground, rest, kind, name, by, found.file, () => rm(path.join(ground.workspaceDir, found.file)));
      }),
  };
}

let last: Promise<unknown> = Promise.resolve();
/** Two edits at the same moment must not each be checked without the other. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const next = last.then(work, work);
  last = next.catch(() => {});
  return next;
}

/** The workspace's files with this text in the place of the document that it is, or as a new one. */
async function placed(ground: Ground, kind: DocumentKind, name: string | undefined, text: string) {
  const sources = await readWorkspace(ground.workspaceDir, { shippedConnectorsDir });
  const known = name === undefined ? undefined : fileOf(sources, kind, name);
  const file =
    known && !known.shipped
      ? known.file
      : kind === 'workspace'
        ? 'innbound.yaml'
        : `${kind}s/${name ?? 'new-document'}.yaml`;
  const files: SourceFile[] = [
    ...sources.filter((source) => source.file !== file),
    { kind, file, text, shipped: false },
  ];
  return { file, files };
}

function fileOf(sources: readonly SourceFile[], kind: DocumentKind, name: string): SourceFile | undefined {
  const own = sources.filter((source) => source.kind === kind);
  const found = own.filter((source) => kind === 'workspace' || parseFile(source).name === name);
  return found.find(({ shipped }) => !shipped) ?? found[0];
}

async function written(
  ground: Ground,
  files: readonly SourceFile[],
  kind: DocumentKind,
  name: string,
  by: string,
  file: string,
  write: () => Promise<void>,
): Promise<Applied> {
  const checked = checkFiles(files, [compileCheck]);
  if (checked.kind === 'invalid') return checked;
  try {
    await write();
  } catch (error) {
    if (['EACCES', 'EROFS', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      return { kind: 'read_only', file };
    }
    throw error;
  }
  const applied = await applyWorkspace(ground.pool, ground.keyring, checked.documents, by);
  await ground.refresh();
  ground.wake.signal('documents');
  const wanted = kind === 'workspace' ? workspaceName : name;
  const version = applied.find((one) => one.kind === kind && one.name === wanted)?.version ?? 0;
  return { kind: 'applied', version, file };
}

/** Whole under another name, then renamed: a service that starts meanwhile reads the old text or the new one. */
async function writeWhole(ground: Ground, file: string, text: string): Promise<void> {
  const target = path.join(ground.workspaceDir, file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(`${target}.new`, text);
  await rename(`${target}.new`, target);
}

const mask = '••••••';

/** A masked credential that comes back unchanged stays what it is: the reference under which it was sealed takes its place. */
async function unmasked(ground: Ground, kind: DocumentKind, name: string, text: string): Promise<string> {
  if (!text.includes(mask)) return text;
  const wanted = kind === 'workspace' ? workspaceName : name;
  const stored = (await currentDocuments(ground.pool)).find((one) => one.kind === kind && one.name === wanted);
  const document = parseDocument(text);
  const visit = (value: unknown, at: readonly (string | number)[]): void => {
    if (typeof value === 'string' && value.includes(mask)) {
      const known = stored && valueAt(stored.body, at);
      if (typeof known === 'string') document.setIn(at, known);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, child] of Object.entries(value)) visit(child, [...at, Array.isArray(value) ? Number(key) : key]);
    }
  };
  visit(document.toJS(), []);
  return document.toString();
}
