import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InnboundError } from '../../errors.ts';
import { type CheckResult, checkFiles } from './check.ts';
import type { DocumentKind } from './kinds.ts';
import type { DocumentCheck } from './mistake.ts';
import type { SourceFile } from './parse.ts';

interface LoadOptions {
  /** A folder of connectors that come with the product, each as NAME/connector.yaml. */
  readonly shippedConnectorsDir?: string | undefined;
  readonly checks?: readonly DocumentCheck[] | undefined;
}

/** Reads and checks all documents of a workspace. */
export async function loadWorkspace(dir: string, options: LoadOptions = {}): Promise<CheckResult> {
  return checkFiles(await readWorkspace(dir, options), options.checks);
}

interface DocumentFile {
  readonly kind: DocumentKind;
  readonly file: string;
  readonly path: string;
  readonly shipped?: boolean;
}

/** The files of a workspace, for `checkFiles`; the console replaces one by its edited text. */
export async function readWorkspace(dir: string, { shippedConnectorsDir }: LoadOptions = {}): Promise<SourceFile[]> {
  const places = await findPlaces(dir);
  if (places === undefined) {
    throw new InnboundError(
      'documents.no_workspace',
      `${dir} is not a workspace: it has neither innbound.yaml nor a folder connectors, integrations or destinations.`,
      { dir },
    );
  }
  if (shippedConnectorsDir !== undefined) places.push(...(await shippedPlaces(shippedConnectorsDir)));
  return readAll(places);
}

/** The connectors that come with the product, for commands that need no workspace. */
export async function readShippedConnectors(dir: string): Promise<SourceFile[]> {
  return readAll(await shippedPlaces(dir));
}

async function shippedPlaces(dir: string): Promise<DocumentFile[]> {
  const places: DocumentFile[] = [];
  for (const { name } of await entries(dir)) {
    const path = join(dir, name, 'connector.yaml');
    const file = `(shipped) connectors/${name}/connector.yaml`;
    if (await isFile(path)) places.push({ kind: 'connector', file, path, shipped: true });
  }
  return places;
}

async function readAll(places: readonly DocumentFile[]): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  // 32 at a time: a workspace of ten thousand brands must not open ten thousand files at once.
  for (let i = 0; i < places.length; i += 32) files.push(...(await Promise.all(places.slice(i, i + 32).map(read))));
  return files;
}

async function findPlaces(dir: string): Promise<DocumentFile[] | undefined> {
  const places: DocumentFile[] = [];
  const top = new Set((await entries(dir)).map(({ name }) => name));
  for (const file of ['innbound.yaml', 'innbound.yml']) {
    if (top.has(file)) places.push({ kind: 'workspace', file, path: join(dir, file) });
  }
  const kinds = ['connector', 'integration', 'destination'] as const;
  for (const kind of kinds) {
    const folder = `${kind}s`;
    for (const { name } of await entries(join(dir, folder))) {
      const inFolder = kind === 'connector' && !isYaml(name) ? `${name}/connector.yaml` : name;
      const path = join(dir, folder, inFolder);
      if (isYaml(inFolder) && (await isFile(path))) places.push({ kind, file: `${folder}/${inFolder}`, path });
    }
  }
  return places.length > 0 || kinds.some((kind) => top.has(`${kind}s`)) ? places : undefined;
}

/** Names that begin with a dot are not documents: editors leave files such as .name.yaml.swp and ._name.yaml. */
function isYaml(name: string): boolean {
  return /^[^.].*\.ya?ml$/.test(name);
}

async function entries(dir: string): Promise<Dirent[]> {
  try {
    const dirents = await readdir(dir, { withFileTypes: true });
    return dirents.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return [];
    throw error;
  }
}

/** Follows links: a mounted ConfigMap is a folder of them. */
async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function read({ kind, file, path, shipped }: DocumentFile): Promise<SourceFile> {
  const source = { kind, file, shipped: shipped ?? false };
  try {
    const text = await readText(path);
    return kind === 'integration' && listsBrands.test(text)
      ? { ...source, text, lists: await listIn(file, path, text) }
      : { ...source, text };
  } catch (error) {
    const code = codeOf(error);
    const isText = code !== 'ERR_ENCODING_INVALID_ENCODED_DATA';
    return { ...source, text: '', unreadable: isText ? `the file cannot be read (${code})` : 'the file is not UTF-8' };
  }
}

const readText = async (path: string) => new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));

/** A file of many brands (brands.ts), and the table that it names. */
export const listsBrands = /^brands:(?:[ \t]+["']?([\w-][\w.-]*\.csv)\b)?/m;

/** The table of brands that the file names, if any. */
async function listIn(file: string, path: string, text: string): Promise<NonNullable<SourceFile['lists']>> {
  const [, name] = listsBrands.exec(text) ?? [];
  const table = name && (await readText(join(dirname(path), name)).catch(() => undefined));
  return name && table !== undefined ? { table: { file: `${dirname(file)}/${name}`, text: table } } : {};
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
