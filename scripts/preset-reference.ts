/** Writes docs/reference/presets.md from the presets; test/deliver/destination-pages.test.ts says when to run it. */
import { writeFileSync } from 'node:fs';
import { type Preset, presets } from '../src/core/deliver/destinations/http/preset.ts';

export const presetsFile = new URL('../docs/reference/presets.md', import.meta.url);

type Row = readonly [field: string, from: string];

/** `{with.prefix}_brand` is shown as `{prefix}_brand`, a name that is made from the stay's key as `KEY`. */
const shownName = (key: string) => key.replace(/\{with\.(\w+)\}/g, '{$1}').replace(/\{[^}|]+\|[^}]*\}/g, 'KEY');

function* rowsOf(body: unknown, path: readonly string[] = []): Generator<Row> {
  if (typeof body === 'string') {
    const sources = [...body.matchAll(/\{([\w.]+)[^}]*\}/g)].map(([, source]) => `\`${source}\``);
    if (sources.length > 0) yield [path.join('.'), [...new Set(sources)].join(', ')];
  } else if (Array.isArray(body)) {
    for (const one of body) yield* rowsOf(one, path);
  } else if (typeof body === 'object' && body !== null) {
    for (const [key, value] of Object.entries(body)) {
      if (key !== '?') yield* rowsOf(value, key === '$time' ? path : [...path, shownName(key)]);
    }
  }
}

type Situation = Preset['on'][keyof Preset['on']];

/** Of several requests, the one that carries the most values; the others look something up or link it. */
function fieldsOf(situation: Situation): Row[] {
  const requests = situation === undefined ? [] : [situation].flat();
  return requests
    .map(({ body }) => [...rowsOf(body)])
    .reduce((most, one) => (one.length > most.length ? one : most), []);
}

function table(title: string, rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  return [
    `### ${title}`,
    ['| field | from |', '|---|---|', ...rows.map(([to, from]) => `| \`${to}\` | ${from} |`)].join('\n'),
  ];
}

function settings({ with: variables }: Preset): string {
  const rows = Object.entries(variables).map(([name, { description, default: usual, optional }]) => {
    const extra = usual !== undefined ? ` Default: \`${usual}\`.` : optional === true ? ' Optional.' : '';
    return `| \`${name}\` | ${description}${extra} |`;
  });
  return ['| `with` | meaning |', '|---|---|', ...rows].join('\n');
}

/** What an audit compares of the person, and which differences it takes for the vendor's own. */
function auditOf({ preset, read }: Preset): string {
  if (read === undefined) return `An audit cannot read ${preset} back.`;
  const list = (paths: readonly string[]) => paths.map((path) => `\`${shownName(path)}\``).join(', ');
  const same = Object.entries(read.same).map(([path, rules]) => `${list([path])} (${rules.join(', ')})`);
  return `An audit compares the person but for ${list(read.except)}. Not a difference: ${same.join(', ')}.`;
}

const sectionOf = (preset: Preset): string[] => [
  `## ${preset.preset}`,
  `${preset.description.trim()} [How to set it up](../guides/destinations/${preset.preset}.md).`,
  settings(preset),
  ...table(`${preset.preset}: the person`, [...rowsOf(preset.body)]),
  ...table(`${preset.preset}: further fields of the person`, fieldsOf(preset.on.details)),
  ...table(`${preset.preset}: the stay`, fieldsOf(preset.on.stay)),
  ...table(`${preset.preset}: a moment`, fieldsOf(preset.on.moment)),
  auditOf(preset),
  `Follows ${preset.reference.map((url, i) => `[${i + 1}](${url})`).join(', ')}.`,
];

export function presetsText(): string {
  return `${[
    '<!-- Written by scripts/preset-reference.ts from the presets; edits are lost. -->',
    '# Presets: settings and fields',
    'What each preset sends. `data` is the canonical record, `guest` its guest; `stay`, `moment` and `guest.history` are explained under [stays and moments](stays-and-moments.md). A value that the record loses is emptied at the vendor; a value that it never had is left out.',
    ...[...presets.values()].flatMap(sectionOf),
  ].join('\n\n')}\n`;
}

if (import.meta.main) writeFileSync(presetsFile, presetsText());
