import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { brandsSchema } from '../src/core/documents/brands.ts';
import { jsonSchema } from '../src/core/documents/json-schema.ts';
import type { DocumentKind } from '../src/core/documents/kinds.ts';
import { durationForm, sizeForm } from '../src/core/documents/units.ts';
import { placeholderTables } from './document-placeholders.ts';
import { systemsWith } from './systems-using.ts';

/** The reference pages, generated from the schemas that the service checks documents with. */

interface Json {
  readonly type?: string | undefined;
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Json | readonly Json[];
  readonly additionalProperties?: Json | boolean;
  readonly oneOf?: readonly Json[];
  readonly anyOf?: readonly Json[];
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly writeOnly?: boolean;
}

interface Page {
  readonly kind: DocumentKind;
  readonly file: string;
  readonly example: string;
}

const pages: readonly Page[] = [
  { kind: 'connector', file: 'connectors/NAME.yaml', example: 'connectors/acme-pms.yaml' },
  { kind: 'integration', file: 'integrations/NAME.yaml', example: 'integrations/lisbon-grand.yaml' },
  { kind: 'destination', file: 'destinations/NAME.yaml', example: 'destinations/crm.yaml' },
  { kind: 'workspace', file: 'innbound.yaml', example: 'innbound.yaml' },
];

/** Sections in the mapping language have their own page. */
const mappingKeys = new Set(['shape', 'map', 'values', 'push.map']);

/** The files of docs/reference that are ours, by name. */
export function referenceFiles(): Map<string, string> {
  return new Map(pages.map((page) => [`${page.kind}.md`, pageText(page)]));
}

function pageText({ kind, file, example }: Page): string {
  const schema = jsonSchema(kind) as Json;
  const yaml = readFileSync(new URL(`../src/core/documents/template/${example}`, import.meta.url), 'utf8').replace(
    /^# yaml-language-server.*\n/,
    '',
  );
  return [
    `<!-- Written from the schema by scripts/document-reference.ts; edits are lost. -->`,
    `# ${schema.title}: \`${file}\``,
    `${schema.description}`,
    ...(kind === 'connector' ? ['Behind a key are shipped connectors that use it, unless most do.'] : []),
    `For completion and checks in an editor, the first line may be \`# yaml-language-server: $schema=\` and the path of \`schemas/${kind}.json\`.`,
    `\`\`\`yaml\n${yaml.trim()}\n\`\`\``,
    ...sections(schema, kind === 'connector'),
    ...(placeholderTables[kind] ?? []),
    ...(kind === 'integration' ? manyBrands() : []),
  ]
    .join('\n\n')
    .concat('\n');
}

function manyBrands(): string[] {
  const { properties = {}, required } = z.toJSONSchema(brandsSchema, { target: 'draft-7', io: 'input' }) as Json;
  const guide = (name: string) =>
    readFileSync(new URL(`../docs/guides/brands/${name}`, import.meta.url), 'utf8').trim();
  return [
    '## Many brands in one file',
    'A file of `integrations/` with the key `brands` lists many brands of one system. Each row is an integration like any other, and behaves as if it had its own file. `innbound validate` names mistakes at their place in the list, the table or the defaults.',
    table(Object.entries(properties).map(([key, child]) => row(key, child, false, required?.includes(key) ?? false))),
    `\`\`\`yaml\n${guide('acme.yaml')}\n\`\`\``,
    `\`\`\`csv\n${guide('acme.csv')}\n\`\`\``,
    'A mapping in a row is merged with that of the defaults; a list or a text replaces it. In a table, the items of a list are separated by spaces.',
    '`innbound brand add acme --from new.csv` adds brands, after a check of the whole workspace. A brand that is saved in the console gets a file of its own, which counts instead of its row; `validate` warns of the row. To remove a brand, remove its row and apply.',
  ];
}

function sections(root: Json, hasMapping: boolean): string[] {
  const written = new Map<string, string>();
  const parts: string[] = [];
  const visit = (schema: Json, path: string, heading: string): void => {
    const rows = Object.entries(schema.properties ?? {}).map(([key, child]) => {
      const childPath = path === '' ? key : `${path}.${key}`;
      const mapping = hasMapping && mappingKeys.has(childPath);
      return { key, child, childPath, mapping, required: schema.required?.includes(key) ?? false };
    });
    parts.push(heading);
    if (path !== '' && schema.description !== undefined) parts.push(schema.description);
    const type = schema.properties?.type?.const;
    const users = (at: string) =>
      hasMapping ? systemsWith((use) => use.path === at && (type === undefined || use.type === type)) : '';
    parts.push(
      table(
        rows.map(({ key, child, childPath, mapping, required }) =>
          row(key, child, mapping, required, users(childPath)),
        ),
      ),
    );
    for (const { child, childPath, mapping } of rows) if (!mapping) descend(child, childPath);
  };
  const descend = (schema: Json, path: string): void => {
    for (const { object, path: at } of objectsIn(schema, path)) {
      const same = written.get(JSON.stringify(object.properties));
      const heading = `## \`${at}\`${object.title === undefined ? '' : ` (${object.title})`}`;
      if (same !== undefined) parts.push(heading, `The same keys as \`${same}\`.`);
      else {
        written.set(JSON.stringify(object.properties), at);
        visit(object, at, heading);
      }
    }
  };
  const options = flatOptions(root);
  if (options.length === 0) visit(root, '', '## Keys');
  else sharedAndOwn(options, visit);
  return parts;
}

/** The types of destinations share most keys: the page lists these once, then the keys of each type. */
function sharedAndOwn(options: readonly Json[], visit: (schema: Json, path: string, heading: string) => void): void {
  const isShared = (key: string): boolean =>
    key !== 'type' &&
    options.every(
      (option) =>
        option.properties?.[key] !== undefined &&
        JSON.stringify(option.properties[key]) === JSON.stringify(options[0]?.properties?.[key]),
    );
  const pick = (option: Json, keep: (key: string) => boolean): Json => ({
    ...option,
    properties: Object.fromEntries(Object.entries(option.properties ?? {}).filter(([key]) => keep(key))),
  });
  const [first] = options;
  if (first !== undefined) visit({ ...pick(first, isShared), description: '' }, '', '## Keys of every type');
  for (const option of options)
    visit(
      pick(option, (key) => !isShared(key)),
      '',
      `## Type \`${option.title}\`\n\n${option.description}`,
    );
}

function flatOptions(schema: Json): readonly Json[] {
  return (schema.oneOf ?? []).flatMap((option) => (option.oneOf ? flatOptions(option) : [option]));
}

/** The objects with fixed keys that a value may be or contain. */
function* objectsIn(schema: Json, path: string): Generator<{ object: Json; path: string }> {
  if (schema.properties !== undefined) yield { object: schema, path };
  for (const option of flatOptions(schema)) yield* objectsIn(option, path);
  for (const option of schema.anyOf ?? []) yield* objectsIn(option, path);
  const items = schema.items;
  for (const item of items === undefined ? [] : 'length' in items ? items : [items])
    yield* objectsIn(item, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') yield* objectsIn(schema.additionalProperties, `${path}.*`);
}

function table(rows: readonly string[]): string {
  return ['| key | value | meaning |', '|---|---|---|', ...rows].join('\n');
}

function row(key: string, schema: Json, mapping: boolean, required: boolean, users = ''): string {
  const value = mapping ? 'see [mapping](mapping.md)' : valueText(schema);
  const standard = schema.default === undefined ? '' : `; default \`${JSON.stringify(schema.default)}\``;
  const meaning = [schema.description ?? '', required ? '**Required.**' : ''].filter((text) => text !== '').join(' ');
  return `| \`${key}\` | ${cell(`${value}${standard}`)} | ${cell(meaning)}${users} |`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function valueText(schema: Json): string {
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  const options = flatOptions(schema);
  if (options.length > 0) return `a mapping, one of: ${options.map(({ title }) => title).join('; ')}`;
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(valueText))].join(' or ');
  const [least, most] = schema.examples ?? [];
  if (schema.pattern === durationForm.source) return `duration, \`${least}\` to \`${most}\``;
  if (schema.pattern === sizeForm.source) return `size, \`${least}\` to \`${most}\``;
  if (schema.examples !== undefined)
    return `text such as ${schema.examples.map((example) => `\`${String(example)}\``).join(', ')}`;
  switch (schema.type) {
    case 'array':
      return schema.items !== undefined && 'length' in schema.items
        ? `a list: ${schema.items.map(valueText).join('; ')}`
        : `a list: ${valueText((schema.items as Json | undefined) ?? {})}`;
    case 'object':
      return schema.properties === undefined
        ? `a mapping: names to ${valueText(typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {})}`
        : 'a mapping';
    case 'integer':
      return `whole number, ${schema.minimum} to ${schema.maximum}`;
    case 'number':
      return 'number';
    case 'boolean':
      return 'true or false';
    case 'string':
      return schema.writeOnly ? 'text, secret' : 'text';
    default:
      return 'any value';
  }
}
