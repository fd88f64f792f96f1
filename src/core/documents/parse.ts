import { createHash } from 'node:crypto';
import { type Bodies, type DocumentKind, type LoadedDocument, schemas, workspaceName } from './kinds.ts';
import { inOrder, type Mistake, type Problem, withSuggestion } from './mistake.ts';
import { type Path, pathText } from './path.ts';
import { positionAt, positionOf } from './positions.ts';
import { type Repaired, readThrough, salvage } from './repair.ts';
import { keysOf } from './schema-walk.ts';
import { findReferences } from './secret-reference.ts';
import { readYaml, type YamlText } from './yaml-text.ts';

/** One file of a workspace. */
export interface SourceFile {
  readonly kind: DocumentKind;
  /** Relative to the workspace. */
  readonly file: string;
  readonly text: string;
  readonly shipped?: boolean;
  /** Why the text could not be read. */
  readonly unreadable?: string;
  /** A file of many brands (brands.ts), with the table that it names. */
  readonly lists?: { readonly table?: { readonly file: string; readonly text: string } };
  /** One brand of such a file. */
  readonly isRow?: true;
}

/** The result of parsing a file: a document or mistakes. Name and value are also set for a file with mistakes, for references to it. */
export interface ParsedFile {
  readonly source: SourceFile;
  readonly name: string | undefined;
  /** The value as probably meant: misspelled keys have their correct names. */
  readonly meant: unknown;
  readonly document: LoadedDocument | undefined;
  /** For checks that need a valid document: the document, or the valid part of one with mistakes. */
  readonly sound: { readonly document: LoadedDocument; readonly removed: readonly Path[] } | undefined;
  readonly mistakes: readonly Mistake[];
  mistakeAt(problem: Problem): Mistake;
}

const deepestDocument = 100;
/** One mistake early in a file can cause hundreds of errors below it. */
const mostSyntaxErrors = 20;
/** More than a person reads at once; the rest shows when these are corrected. */
const mostMistakes = 100;

type MistakeAt = ParsedFile['mistakeAt'];

/** The value in a file, or why it has none. */
type SourceValue =
  | { readonly kind: 'read'; readonly raw: unknown; readonly mistakeAt: MistakeAt }
  | { readonly kind: 'failed'; readonly file: ParsedFile };

export function parseFile(source: SourceFile): ParsedFile {
  const read = readSource(source);
  return read.kind === 'failed' ? read.file : checkValue(source, read.raw, read.mistakeAt);
}

export function readSource(source: SourceFile): SourceValue {
  const failed = (message: string): SourceValue => {
    const mistake = { file: source.file, line: 1, column: 1, path: '', message };
    const mistakeAt = (problem: Problem): Mistake => ({
      ...mistake,
      path: pathText(problem.path),
      message: problem.message,
    });
    return { kind: 'failed', file: { source, ...nothing, mistakes: [mistake], mistakeAt } };
  };
  if (source.unreadable !== undefined) return failed(source.unreadable);
  const read = readYaml(source.text);
  return read.kind === 'refused' ? failed(read.message) : valueIn(source, read, failed);
}

/** A file whose content cannot be used. */
export const nothing = { name: undefined, meant: undefined, document: undefined, sound: undefined };

function valueIn(
  source: SourceFile,
  { yaml, faults }: Extract<YamlText, { kind: 'read' }>,
  failed: (message: string) => SourceValue,
): SourceValue {
  const { kind, file, text } = source;
  const mistakeAt = ({ path, at, message, suggestion, offset }: Problem): Mistake => ({
    file,
    ...positionOf(yaml, text, { path, at, ...(offset === undefined ? {} : { offset }) }),
    path: pathText(path),
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
  });
  const broken = faults.slice(0, mostSyntaxErrors).map(({ offset, path = [], message }) => ({
    file,
    ...positionAt(text, offset),
    path: pathText(path),
    message,
  }));
  let raw: unknown;
  try {
    raw = yaml.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (!(error instanceof ReferenceError) && !(error instanceof RangeError)) throw error;
    if (broken.length === 0) return failed('the document repeats aliases (*name) too often, or nests too deeply');
  }
  if (broken.length === 0) return { kind: 'read', raw, mistakeAt };
  return { kind: 'failed', file: { source, ...nothing, name: nameIn(kind, raw), mistakes: broken, mistakeAt } };
}

export function checkValue(source: SourceFile, value: unknown, mistakeAt: MistakeAt): ParsedFile {
  const { kind } = source;
  // An empty innbound.yaml, or one with comments only, has all defaults.
  const raw = kind === 'workspace' && value === null ? {} : value;
  const { problems, meant, body, written } = readDocument(kind, raw);
  const reported = new Set(problems.filter(({ at }) => at === 'value').map(({ path }) => pathText(path)));
  const further = [...valueProblems(raw)].filter(({ at, path }) => at === 'key' || !reported.has(pathText(path)));
  const mistakes = fewEnough(inOrder([...problems, ...further].map(mistakeAt)));
  const document = mistakes.length === 0 ? loaded(source, body) : undefined;
  return {
    source,
    name: nameIn(kind, meant),
    meant,
    document,
    sound: document === undefined ? soundPart(source, meant) : { document, removed: [] },
    mistakes,
    mistakeAt: (problem) => mistakeAt({ ...problem, path: written(problem.path) }),
  };
}

function fewEnough(mistakes: readonly Mistake[]): readonly Mistake[] {
  const next = mistakes[mostMistakes];
  if (next === undefined) return mistakes;
  const more = 'more mistakes follow; correct these first';
  return [...mistakes.slice(0, mostMistakes), { ...next, path: '', message: more }];
}

const standIns = {
  integration: 'unnamed',
  connector: 'unnamed',
  destination: 'unnamed',
  brand_id: 'unnamed',
  timezone: 'UTC',
};

function soundPart(source: SourceFile, meant: unknown): ParsedFile['sound'] {
  const salvaged = meant === undefined ? undefined : salvage(schemas[source.kind], meant, standIns);
  return salvaged && { document: loaded(source, salvaged.body), removed: salvaged.removed };
}

function nameIn(kind: DocumentKind, raw: unknown): string | undefined {
  if (kind === 'workspace') return workspaceName;
  const name = typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>)[kind] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function readDocument(kind: DocumentKind, raw: unknown): Repaired {
  const refused = (problem: Pick<Problem, 'path' | 'at' | 'message'>): Repaired => ({
    problems: [problem],
    meant: undefined,
    body: undefined,
    written: (path) => path,
  });
  if (raw === null || raw === undefined) return refused({ path: [], at: 'value', message: 'the document is empty' });
  if (typeof raw !== 'object' || Array.isArray(raw)) {
    return refused({ path: [], at: 'value', message: 'the document must be a mapping of keys to values' });
  }
  const other = kindOf(raw);
  if (kind !== 'workspace' && other !== undefined && other !== kind && knownKeys(other, raw) > knownKeys(kind, raw)) {
    const message = `this document is ${other === 'integration' ? 'an' : 'a'} ${other}: move it to the folder ${other}s`;
    return refused({ path: [other], at: 'key', message });
  }
  if (isDeeperThan(raw, deepestDocument)) {
    return refused({ path: [], at: 'value', message: `the document is nested deeper than ${deepestDocument} levels` });
  }
  return readThrough(schemas[kind], raw);
}

/** The kind of a document, by the key that names it. An integration also has the key `connector`. */
function kindOf(raw: object): DocumentKind | undefined {
  return (['integration', 'destination', 'connector'] as const).find((kind) => Object.hasOwn(raw, kind));
}

function knownKeys(kind: DocumentKind, raw: object): number {
  const known = keysOf(schemas[kind]);
  return Object.keys(raw).filter((key) => known.includes(key)).length;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((child) => isDeeperThan(child, levels - 1));
}

function loaded({ kind, file, text, shipped = false }: SourceFile, body: unknown): LoadedDocument {
  const name = nameIn(kind, body) ?? '';
  return { kind, name, file, shipped, source: text, body: body as Bodies[typeof kind], hash: hashOf(body) };
}

/** Key order is part of the hash: query parameters are sent in this order. */
function hashOf(body: unknown): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('hex');
}

const unsafeKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** Mistakes in values and keys that no schema reports: references to secrets, numbers that lose digits, unsafe keys. */
export function* valueProblems(value: unknown, path: Path = []): Generator<Problem> {
  if (typeof value === 'string') {
    const { finding } = findReferences(value);
    if (finding === undefined) return;
    const { message, suggestion, offset = 0 } = finding;
    yield { path, at: 'value', ...withSuggestion(message, suggestion), offset };
  } else if (typeof value === 'number') {
    if (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)) return;
    yield { path, at: 'value', message: 'cannot be kept exactly as a number: put it in quotes' };
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) {
      const childPath = [...path, Array.isArray(value) ? Number(key) : key];
      if (unsafeKeys.has(key)) yield { path: childPath, at: 'key', message: `${key} cannot be used as a key` };
      yield* valueProblems(child, childPath);
    }
  }
}
