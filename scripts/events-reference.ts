/** Writes docs/partners/events.md from the canonical fields and the rules of the check; test/docs/generated.test.ts says when to run it. */
import { writeFileSync } from 'node:fs';
import { thin } from '../packages/partner-kit/src/simulate/represent.ts';
import { entriesOf, listNames, requiredFields, type Table } from '../src/core/canonical/fields.ts';
import { eventTypes } from '../src/core/intake/push/envelope.ts';
import { eventItems, eventLists } from '../src/core/shape/shape.ts';
import type { Json } from '../src/terms.ts';

export const eventsFile = new URL('../docs/partners/events.md', import.meta.url);

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const header = ['| field | send it | example | in our record |', '|---|---|---|---|'];

const envelope: readonly (readonly [field: string, level: string, example: string, about: string])[] = [
  ['event', 'must', 'reservation.updated', 'one of the four names above'],
  ['event_id', 'should', '7d0c2f0e-6a53-4e1e-9f0a-5f6f0c1c2b11', 'unique per event, the same in its retries'],
  ['timestamp', 'must', '2026-06-15T10:00:00Z', 'when the change happened, in UTC'],
  ['brand_id', 'must', 'LIS01', 'as we agreed'],
  ['data', 'must', '{ … }', 'the reservation or the guest'],
];

/** The first name is the one of the interface description. */
const nameIn = (table: Table, field: string): string => {
  if (table === 'reservation') return field === 'id' ? 'reservation_id' : field;
  return eventItems[table][field]?.[0] ?? field;
};

const described: { readonly [table in Table]: readonly string[] } = {
  reservation: thin.reservation,
  guests: thin.guest,
  rooms: thin.stay,
  charges: ['code', 'description', 'amount', 'quantity'],
};

const spelled = (field: string, example: Json): string => {
  if (field === 'board_type') return '"HB"';
  const isAmount = field === 'amount' || field === 'total_amount' || field === 'tax_amount';
  return isAmount ? String(example) : JSON.stringify(example);
};

function rowsOf(table: Table): string[] {
  const prefix = table === 'reservation' ? '' : `${eventLists[table][0]}[].`;
  const ours = table === 'reservation' ? '' : `${table}[].`;
  return entriesOf(table)
    .filter(([, { derived, kind }]) => !derived && kind !== 'json')
    .map(([field, { example, about }]) => {
      const name = nameIn(table, field);
      const isNeeded = table === 'reservation' && requiredFields.has(field);
      const level = isNeeded ? 'must' : described[table].includes(name) ? 'should' : 'may';
      const same = `${prefix}${name}` === `${ours}${field}`;
      return row([
        `\`${prefix}${name}\``,
        level,
        `\`${spelled(name, example)}\``,
        `${same ? '' : `\`${ours}${field}\`. `}${about}`,
      ]);
    });
}

export const eventsText = () =>
  `${[
    '<!-- Written by scripts/events-reference.ts from the canonical fields; edits are lost. -->',
    '# The fields of an event',
    `One event is one JSON object, sent [as described here](webhooks.md). \`event\` is ${eventTypes.map((type) => `\`${type}\``).join(', ')}. *must*: without it the event is refused, or kept as a dead letter. *should*: bookings are poorer without it. *may*: send it if you have it. In an event the rooms are called \`stays\` and their board \`board_type\`, as in the interface description; \`rooms\` and \`board\` are understood too. Everything else has the same name in an event and in our record.`,
    '## Envelope',
    [
      ...header,
      ...envelope.map(([field, level, example, about]) => row([`\`${field}\``, level, `\`${example}\``, about])),
    ].join('\n'),
    '## `data` of a reservation',
    'The whole reservation, in every event. `guests`, `stays` and `charges` are lists, and may be empty. A `guest.updated` has the fields of a guest in `data`, and with them `guest_id` or `reservation_id`.',
    [...header, ...rowsOf('reservation'), ...listNames.flatMap(rowsOf)].join('\n'),
    'Dates are `YYYY-MM-DD` at the property, amounts are JSON numbers, `marketing_consent` is true or false, and absent if nobody asked. Other fields need a line in your connector: tell us.',
  ].join('\n\n')}\n`;

if (import.meta.main) writeFileSync(eventsFile, eventsText());
