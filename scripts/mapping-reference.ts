/** Writes docs/reference/mapping.md from the mapping's schema and its examples. A test compares them. */

import { writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { listFields, reservationFields } from '../src/core/canonical/fields.ts';
import { valueSources } from '../src/core/canonical/value-sources.ts';
import {
  flatSchema,
  guestListSchema,
  itemId,
  mapSchema,
  shapeSchema,
  valuesSchema,
} from '../src/core/documents/connector-mapping.ts';
import {
  fieldFormSchema,
  joinSchema,
  listFormSchema,
  lookupSchema,
  operatorsSchema,
} from '../src/core/documents/mapping-field.ts';
import { type Chapter, chapters, defaultTimezone, type Example, readExamples } from './mapping-examples.ts';
import { systemsWith } from './systems-using.ts';

export const referenceFile = new URL('../docs/reference/mapping.md', import.meta.url);

type Keys = { readonly shape: { readonly [key: string]: z.ZodType } };

const mappings = /^(?:shape|map|values|push\.map|pull\.single\.map)\b/;

function table(schema: Keys, wanted: (key: string) => boolean = () => true): string {
  const rows = Object.entries(schema.shape)
    .filter(([key]) => wanted(key))
    .map(([key, one]) => {
      const users = systemsWith(
        (use) => use.key === key && mappings.test(use.path) && one.safeParse(use.value).success,
      );
      return `| \`${key}\` | ${(one.description ?? '').replaceAll('|', '\\|')}${users} |`;
    });
  return ['| key | meaning |', '|---|---|', ...rows].join('\n');
}

function section(title: string, ...parts: string[]): string {
  return [`## ${title}`, ...parts].join('\n\n');
}

const sources = new Set<string>(valueSources);
const canonical = { reservation: reservationFields, ...listFields };

/** The tables of keys before the examples of a chapter. */
const opening: { readonly [Name in Chapter]?: readonly string[] } = {
  root: ['Keys of `shape`:', table(shapeSchema)],
  fields: [
    'A field is a path, `false`, or one source with modifiers. Modifiers without a source apply to the raw field of the same name.',
    'Sources (a field has exactly one):',
    table(fieldFormSchema, (key) => sources.has(key)),
    'Modifiers, applied in this order whatever the order in the document:',
    table(fieldFormSchema, (key) => !sources.has(key)),
    'A list inside `sum`, `min`, `max`, `count` and `pick` is a path, or:',
    table(listFormSchema),
    '`lookup`:',
    table(lookupSchema),
    'Tests in a condition:',
    table(operatorsSchema),
  ],
  lists: [
    'Keys of `map.guests`, `map.rooms` and `map.charges`:',
    table({ shape: { ...guestListSchema.shape, ...itemId } }),
    '`join`:',
    table(joinSchema),
  ],
  flat: ['Keys of `shape.flat`:', table(flatSchema)],
  values: ['Keys of `values`:', table(valuesSchema)],
};

function fieldList(): string {
  const rows = Object.entries(canonical).map(
    ([name, fields]) =>
      `| ${name} | ${Object.keys(fields)
        .map((field) => `\`${field}\``)
        .join(' ')} |`,
  );
  return [
    '| of | fields |',
    '|---|---|',
    ...rows,
    `| further | ${mapSchema.shape.extra.description} (\`extra\`) |`,
  ].join('\n');
}

const inputTitles = { list: 'Response:', single: 'Response for one reservation:', event: 'Data of an event:' };

function shown({ title, about, timezone, mapping, input, output, form }: Example): string {
  const zone = timezone === defaultTimezone ? '' : ` The property is in ${timezone}.`;
  return [
    `### ${title}`,
    about + zone,
    `\`\`\`yaml\n${mapping.trim()}\n\`\`\``,
    inputTitles[form],
    `\`\`\`json\n${input.trim()}\n\`\`\``,
    'Records:',
    `\`\`\`json\n${output.trim()}\n\`\`\``,
  ].join('\n\n');
}

export function mappingReference(examples: readonly Example[] = readExamples()): string {
  const parts = [
    '<!-- Written by scripts/mapping-reference.ts from the schema and from mapping-examples/; edits are lost. -->',
    '# Mapping: `shape`, `map` and `values` of a connector',
    'How a partner’s JSON becomes canonical records. A mapping is data, not code, and every mistake is reported with its position before it is applied. `innbound map CONNECTOR --sample FILE` shows the records of a response, where each value came from, and what is not mapped. Behind a key are shipped connectors that use it, unless most do.',
    'A test runs each example below. Examples show only what they are about: a real record also needs an id, the dates of the stay and a status.',
    section('Canonical fields', 'A field that is not mapped is read from the raw field of the same name.', fieldList()),
    ...(Object.entries(chapters) as [Chapter, string][]).map(([chapter, title]) =>
      section(title, ...(opening[chapter] ?? []), ...examples.filter((one) => one.chapter === chapter).map(shown)),
    ),
    section(
      'Rules for a record',
      'Only the first two rules make the record a dead letter: it names the field, the rule and the type of the value, never the value. The other records continue. A value that breaks any other rule is left out with a note, unless its field says `if_invalid: dead_letter`.',
      [
        '- `id`, `check_in`, `check_out` and `status` are present and valid; `check_out` is not before `check_in`. The `id` has no control characters and at most 512 characters (`record.id_unusable`).',
        '- At most 500 guests, 500 rooms and 5,000 charges (`record.too_many_items`).',
        '- Other dates are real.',
        '- `currency` is one of ISO 4217, `nationality` one of ISO 3166.',
        '- Amounts are decimal numbers, `adults`, `children` and `quantity` whole numbers; text that holds one is read.',
        '- `marketing_consent` is true or false; yes, no, y, n, 1 and 0 are read.',
        '- The status is confirmed, checked_in, checked_out, cancelled or no_show in any case and with any separators (canceled too), or a spelling under `values.status`.',
      ].join('\n'),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

if (import.meta.main) writeFileSync(referenceFile, mappingReference());
