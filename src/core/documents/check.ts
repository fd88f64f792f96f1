import { parseSource } from './brands.ts';
import { type DocumentKind, type LoadedDocument, type LoadedDocuments, workspaceName } from './kinds.ts';
import { type CheckFinding, type DocumentCheck, inOrder, type Mistake, withSuggestion } from './mistake.ts';
import { nothing, type ParsedFile, parseFile, type SourceFile } from './parse.ts';
import { pathFromText, valueAt } from './path.ts';
import { pullChecks } from './pull-checks.ts';
import { crossMistakes, stemOf } from './references.ts';
import { related } from './repair.ts';

export type CheckResult =
  | { readonly kind: 'ok'; readonly documents: LoadedDocuments; readonly warnings: readonly Mistake[] }
  | { readonly kind: 'invalid'; readonly mistakes: readonly Mistake[]; readonly warnings: readonly Mistake[] };

/** Checks all files of a workspace, from memory. Reports every mistake of every file, in the order of the files. */
export function checkFiles(sources: readonly SourceFile[], checks: readonly DocumentCheck[] = []): CheckResult {
  const files = winning(parseSources(sources));
  const documents = collect(files.map(({ document }) => document));
  const sound = collect(files.map((file) => file.sound?.document));
  const faults = distinct([
    ...files.flatMap((file) => file.mistakes),
    ...crossMistakes(files),
    ...[pullChecks, pushChecks, ...checks]
      .flatMap((check) => check(sound))
      .flatMap((finding) => placed(finding, files) ?? []),
  ]);
  const mistakes = inOrder(faults.filter(({ severity }) => severity === undefined));
  // Nobody here can change a shipped connector; its own tests know its warnings.
  const shipped = new Set(sources.flatMap((source) => (source.shipped ? [source.file] : [])));
  const warnings = inOrder(faults.filter(({ file, severity }) => severity === 'warning' && !shipped.has(file)));
  return mistakes.length === 0 ? { kind: 'ok', documents, warnings } : { kind: 'invalid', mistakes, warnings };
}

/** The files; of the shipped connectors only those that an integration names, and `also`: all 38 take longer than a small workspace. */
export function parseSources(sources: readonly SourceFile[], ...also: readonly string[]): ParsedFile[] {
  const own = sources.filter(({ shipped }) => !shipped).flatMap(parseSource);
  const used = new Set<unknown>([...also, ...own.map(({ meant }) => valueAt(meant, ['connector']))]);
  const shipped = sources.filter((source) => source.shipped);
  return [
    ...own,
    ...shipped.map((source) => {
      const name = stemOf(source);
      return used.has(name) ? parseShipped(source) : { source, ...nothing, name, mistakes: [], mistakeAt: noMistake };
    }),
  ];
}

const noMistake = (): never => {
  throw new TypeError('a mistake is reported in a connector that nothing names');
};

const shippedFiles = new Map<string, ParsedFile>();

/** Once per process. */
function parseShipped(source: SourceFile): ParsedFile {
  const known = shippedFiles.get(source.file);
  if (known?.source.text === source.text) return known;
  const parsed = parseFile(source);
  shippedFiles.set(source.file, parsed);
  return parsed;
}

/** A mistake in the defaults of many brands is one mistake. */
function distinct(mistakes: readonly Mistake[]): Mistake[] {
  return [...new Map(mistakes.map((one) => [`${one.file} ${one.line} ${one.column} ${one.message}`, one])).values()];
}

/** A connector of the workspace replaces the shipped one of the same name; a brand's own file its row in a file of many brands. */
function winning(files: readonly ParsedFile[]): ParsedFile[] {
  const own = new Map(
    files.flatMap((file) =>
      file.source.shipped || file.source.isRow ? [] : [[`${file.source.kind} ${file.name}`, file] as const],
    ),
  );
  return files.flatMap((file) => {
    const { source, name } = file;
    const winner = own.get(`${source.kind} ${name}`);
    if (winner === undefined || winner === file || !(source.shipped || source.isRow)) return [file];
    if (source.shipped || name === undefined) return [];
    const message = `has no effect: ${name} has its own file ${winner.source.file}. Remove the row or the file`;
    const mistake = file.mistakeAt({ path: ['integration'], at: 'value', message });
    return [{ ...file, ...nothing, mistakes: [{ ...mistake, severity: 'warning' as const }] }];
  });
}

function collect(loaded: readonly (LoadedDocument | undefined)[]): LoadedDocuments {
  const ofKind = <Kind extends DocumentKind>(kind: Kind): Map<string, LoadedDocument<Kind>> => {
    const byName = new Map<string, LoadedDocument<Kind>>();
    for (const document of loaded) {
      if (document?.kind === kind && !byName.has(document.name))
        byName.set(document.name, document as LoadedDocument<Kind>);
    }
    return byName;
  };
  return {
    connectors: ofKind('connector'),
    integrations: ofKind('integration'),
    destinations: ofKind('destination'),
    workspace: ofKind('workspace').get(workspaceName) ?? defaultWorkspace(),
  };
}

/** The settings of a workspace without innbound.yaml. */
function defaultWorkspace(): LoadedDocument<'workspace'> {
  const { document } = parseFile({ kind: 'workspace', file: 'innbound.yaml', text: '' });
  if (document === undefined) throw new TypeError('the defaults of innbound.yaml do not meet its schema');
  return document as LoadedDocument<'workspace'>;
}

/** The finding with its position. Undefined if it is about a part that was removed as a mistake, which is reported already. */
function placed(
  { document, path, message, suggestion, offset, severity }: CheckFinding,
  files: readonly ParsedFile[],
): Mistake | undefined {
  const steps = typeof path === 'string' ? pathFromText(path) : path;
  const file = files.find(
    ({ sound }) => sound?.document.kind === document.kind && sound.document.name === document.name,
  );
  if (file === undefined) throw new TypeError(`a check reports on the unknown ${document.kind} ${document.name}`);
  if (file.sound?.removed.some((gone) => related(gone, steps))) return undefined;
  const said = { ...withSuggestion(message, suggestion), ...(offset !== undefined && { offset }) };
  const mistake = file.mistakeAt({ path: steps, at: 'value', ...said });
  return severity === undefined ? mistake : { ...mistake, severity };
}

/** Checks one document alone, such as one that is being edited: all but its references to others. */
export function parseDocument(
  text: string,
  file: string,
  kind: DocumentKind,
): { kind: 'ok'; document: LoadedDocument } | { kind: 'invalid'; mistakes: readonly Mistake[] } {
  const { document, mistakes } = parseFile({ kind, file, text });
  return document === undefined ? { kind: 'invalid', mistakes } : { kind: 'ok', document };
}

/** SHA-1 and MD5 still hold under HMAC, but nothing new should be built on them. */
export const pushChecks: DocumentCheck = ({ connectors }) =>
  [...connectors.values()].flatMap(({ name, body }) => {
    const scheme = body.push?.verification;
    if (scheme?.type !== 'hmac' || (scheme.algorithm !== 'sha1' && scheme.algorithm !== 'md5')) return [];
    const message = `${scheme.algorithm} is outdated: ask the partner for sha256, and use it only if there is nothing better`;
    const document = { kind: 'connector', name } as const;
    return [{ document, path: ['push', 'verification', 'algorithm'], severity: 'warning', message }];
  });
