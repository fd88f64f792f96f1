/** Writes docs/reference/canonical.md from the canonical schema; test/docs/canonical.test.ts says when to run it. */
import { writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { fieldNames } from '../src/core/canonical/fields.ts';
import { encodeRecord, type Reservation } from '../src/core/canonical/reservation.ts';
import { chargeSchema, guestSchema, reservationSchema, roomSchema } from '../src/core/canonical/schema.ts';
import { statuses } from '../src/core/canonical/values.ts';

export const canonicalFile = new URL('../docs/reference/canonical.md', import.meta.url);

type Shape = { readonly [key: string]: z.ZodType };

/** Present only if something is wrong with the value, so the example record does not have them. */
const exceptional = fieldNames(({ derived }) => derived);
const decimals = fieldNames(({ kind }) => kind === 'decimal');
const personal = fieldNames((field) => field.personal);

const metaOf = (schema: z.ZodType) => schema.meta() as { description?: string; examples?: unknown[] } | undefined;

function shown(key: string, value: unknown): string {
  return decimals.has(key) ? String(value) : JSON.stringify(value);
}

function table(shape: Shape): string {
  const rows = Object.entries(shape).map(([key, schema]) => {
    const { description = '', examples = [] } = metaOf(schema) ?? {};
    const must = schema.safeParse(undefined).success || examples.length === 0 ? '' : ' **Required.**';
    const example = examples.length === 0 ? '' : `\`${shown(key, examples[0])}\``;
    return `| \`${key}\` | ${description}${must}${personal.has(key) ? ' *Personal.*' : ''} | ${example} |`;
  });
  return ['| field | meaning | example |', '|---|---|---|', ...rows].join('\n');
}

/** The record that the examples of all fields make together. */
export function exampleRecord(): Reservation {
  const of = (shape: Shape) =>
    Object.fromEntries(
      Object.entries(shape)
        .filter(([key]) => !exceptional.has(key))
        .map(([key, schema]) => [key, metaOf(schema)?.examples?.[0]])
        .filter(([, example]) => example !== undefined),
    );
  const lists = { guests: [of(guestSchema.shape)], rooms: [of(roomSchema.shape)], charges: [of(chargeSchema.shape)] };
  return reservationSchema.parse({ ...of(reservationSchema.shape), ...lists });
}

const questions: readonly (readonly [question: string, answer: string])[] = [
  [
    'Is `charges.amount` the price of a unit or of the line?',
    'Of the line. Three nights at 170.80 are one charge with `amount` 512.4 and `quantity` 3. A partner that sends unit prices is mapped with `amount: { product: [price, quantity] }`. The amounts of a reservation usually add up to `total_amount`; nothing enforces it, because many systems leave taxes or discounts out of their lines.',
  ],
  [
    'What is the difference between `channel` and `source`?',
    '`channel` is the technical way: the system that handed the booking over, such as `BDC`, `GDS`, `WEB`. `source` is the business view: where the guest came from, such as `direct`, `online travel agency`, `corporate`. If a partner has only one of them, map it to the one it means, and leave the other absent. Both pass unchanged unless `values.channel` or `values.source` translates them.',
  ],
  [
    'Who is the lead guest?',
    'The first element of `guests`. If the partner marks a main guest, or has the booker in a separate object, the connector puts that person first. Destinations that take one person per reservation use the first.',
  ],
  [
    'Where do infants go?',
    'Into `children`. The schema has no field for them. If the partner counts them separately, add them up: `children: { sum: [children, infants] }`; keep the separate number in `extra` if a destination needs it.',
  ],
  [
    'Which words does `board` have?',
    '`room_only`, `bed_and_breakfast`, `half_board`, `full_board`, `all_inclusive`. The word for breakfast is `bed_and_breakfast`, never `breakfast`. Codes such as `HB` are translated by `values.board` of the connector. A word that is not listed passes unchanged and is counted as drift, because hotels sell boards that no list has.',
  ],
  [
    'Which values can `document_type` have?',
    'Any short code: the interface description defines none. `PP` (passport), `ID` (identity card) and `DL` (driving licence) are common. Translate a partner’s words with `values.document_type` if your destinations need one spelling.',
  ],
  [
    'What does an absent `marketing_consent` mean?',
    'Unknown. `true` is consent, `false` is a refusal or a withdrawal, and absent says nothing: it neither subscribes nor unsubscribes anybody. Do not map unknown to `false`.',
  ],
  [
    'What is `extra` for?',
    'Fields that the schema does not have and a destination needs: a loyalty number, a market segment, a housekeeping note. The connector maps each one by name (`extra: { market_segment: marketCode }`); rules can read and set them; destinations receive them as JSON. Nothing gets there by itself.',
  ],
  [
    'What happens to a status that is not in the list?',
    `Map it with \`values.status\`. A status that no value map lists makes the record a dead letter, or, with \`unknown_status: other\`, passes as \`other\` with the partner’s spelling in \`status_raw\`. The statuses are ${statuses.map((status) => `\`${status}\``).join(', ')}.`,
  ],
  [
    'Why can a field be absent but never null?',
    'Absent means that nothing is known. A partner’s `null`, or an empty list, clears a stored value; the canonical record then simply lacks the field. Destinations need to handle one case, not two.',
  ],
];

export function canonicalReference(): string {
  const record = JSON.stringify(JSON.parse(encodeRecord(exampleRecord())), null, 2);
  const parts = [
    '<!-- Written by scripts/canonical-reference.ts from the schema; edits are lost. -->',
    '# The canonical record',
    'Every partner’s data becomes this record, and every destination receives it. Names are in snake_case. Dates are `YYYY-MM-DD` in the property’s time zone. Amounts are exact decimals: JSON numbers in deliveries, `numeric` in a warehouse. How a partner’s fields get here is the [mapping](mapping.md). *Personal* fields and `extra` are masked for viewers.',
    '## Reservation',
    table(reservationSchema.shape),
    '## Guest',
    'An element of `guests`, and the record of a guest profile.',
    table(guestSchema.shape),
    '## Room',
    'An element of `rooms`. Webhooks of the interface description call it a stay, and its board `board_type`.',
    table(roomSchema.shape),
    '## Charge',
    'An element of `charges`.',
    table(chargeSchema.shape),
    '## Example',
    `\`\`\`json\n${record}\n\`\`\``,
    '## Questions',
    ...questions.map(([question, answer]) => `**${question}** ${answer}`),
  ];
  return `${parts.join('\n\n')}\n`;
}

if (import.meta.main) writeFileSync(canonicalFile, canonicalReference());
