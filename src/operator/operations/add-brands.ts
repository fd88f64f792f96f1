import path from 'node:path';
import { isSeq, parseDocument } from 'yaml';
import { compileCheck } from '../../core/brand/compile-check.ts';
import { readTable, tableFile, typed, writeLine } from '../../core/documents/brands.ts';
import { checkFiles } from '../../core/documents/check.ts';
import { readWorkspace } from '../../core/documents/load.ts';
import { readSource, type SourceFile } from '../../core/documents/parse.ts';
import { pathFromText, valueAt } from '../../core/documents/path.ts';
import { InnboundError } from '../../errors.ts';
import { invalidDocuments, shippedConnectorsDir } from '../../runtime/workspace-documents.ts';
import { writeWhole } from './document-file.ts';

interface AddedBrands {
  /** The file that lists them now, relative to the workspace. */
  readonly file: string;
  readonly brands: readonly string[];
}

/** Adds the brands of a table to a group. Nothing is written unless the whole workspace is without mistakes with them. */
export async function addBrands(
  workspaceDir: string,
  group: string,
  from: { readonly file: string; readonly text: string },
): Promise<AddedBrands> {
  const sources = await readWorkspace(workspaceDir, { shippedConnectorsDir });
  const groups = new Map(sources.flatMap((one) => (one.lists ? [[groupOf(one), one] as const] : [])));
  const list = groups.get(group);
  if (list === undefined) {
    const known = [...groups.keys()].filter((name) => name !== undefined).join(', ') || 'none';
    throw new InnboundError(
      'documents.unknown_name',
      `There is no group ${group}; known groups: ${known}. Write integrations/${group}.yaml with group, defaults and brands first.`,
    );
  }
  const checked = checkFiles([...sources, tableFile(list, from)], [compileCheck]);
  if (checked.kind === 'invalid') throw invalidDocuments(checked.mistakes, workspaceDir);
  const table = readTable(from.text);
  if (table.kind === 'broken') throw new TypeError('a table that was checked is broken');
  const rows = table.rows.map((cells) =>
    Object.fromEntries(cells.flatMap(({ text }, i) => (text === '' ? [] : [[table.columns[i]?.text ?? '', text]]))),
  );
  const file = list.lists?.table?.file ?? list.file;
  await writeWhole(workspaceDir, file, list.lists?.table ? withLines(list.lists.table, rows) : withItems(list, rows));
  return { file, brands: rows.map(({ integration = '' }) => integration) };
}

const groupOf = (source: SourceFile): string | undefined => {
  const read = readSource(source);
  const group = read.kind === 'read' ? valueAt(read.raw, ['group']) : undefined;
  return typeof group === 'string' ? group : undefined;
};

type Texts = Readonly<Record<string, string>>;

function withLines({ file, text }: { readonly file: string; readonly text: string }, rows: readonly Texts[]): string {
  const before = readTable(text);
  if (before.kind === 'broken') throw new TypeError('a table that was checked is broken');
  const columns = before.columns.map((column) => column.text);
  const unknown = rows.flatMap(Object.keys).find((key) => !columns.includes(key));
  if (unknown !== undefined) {
    const message = `${path.basename(file)} has no column ${unknown}: add it to the first line, then repeat the command.`;
    throw new InnboundError('operate.usage', message);
  }
  const lines = rows.map((row) =>
    writeLine(
      columns.map((key) => row[key] ?? ''),
      before.separator,
    ),
  );
  return `${text.trimEnd()}\n${lines.join('\n')}\n`;
}

function withItems({ text }: SourceFile, rows: readonly Texts[]): string {
  const yaml = parseDocument(text, { uniqueKeys: false });
  const items = yaml.get('brands');
  const defaults = yaml.toJS().defaults ?? {};
  if (!isSeq(items)) throw new TypeError('a list that was checked has no brands');
  for (const row of rows) {
    const values = Object.entries(row).map(([key, cell]) => [key, typed(cell, pathFromText(key), defaults)]);
    items.add(yaml.createNode(Object.fromEntries(values), { flow: true }));
  }
  return yaml.toString({ lineWidth: 0 });
}
