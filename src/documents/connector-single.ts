import { z } from 'zod';
import { answerPath } from './answer-path.ts';
import { crossChecked, type Report, textsIn } from './checked.ts';
import { mapSchema } from './connector-mapping.ts';
import { checkBody, requestParts, sends } from './connector-request.ts';
import { valueAt } from './path.ts';
import { placeholdersIn, singlePlaceholders } from './placeholders.ts';

const idParts = Object.keys(singlePlaceholders).filter((name) => name.startsWith('id.'));

export const singleSchema = crossChecked(
  z.strictObject({
    ...requestParts(singlePlaceholders),
    split: z
      .string()
      .min(1)
      .optional()
      .describe(
        'For a request that needs two or three ids, such as /properties/{id.0}/reservations/{id.1}: the text between them in the id of the reservation. The mapping joins them: `id: { join: [property.id, id], with: "/" }`.',
      ),
    id_as: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The name under which the mapping finds the requested id, at `$body.NAME`, for answers that do not repeat it.',
      ),
    map: mapSchema
      .optional()
      .describe(
        'Overrides `map` for the answer with one reservation, field by field and list by list. If the list has flat rows, `map` is not used at all. shape.single_path is the path of the reservation.',
      ),
  }),
  (request, report) => {
    checkBody(request, report);
    if (!sends(request, singlePlaceholders, 'id', ...idParts)) report({ message: 'sends no {id}' });
    const used = usedParts(request);
    if (used.length > 0 && request.split === undefined) {
      report({ message: `{${used[0]}} is a part of the id: say what separates the parts (split)` });
    }
    if (used.length === 0 && request.split !== undefined) {
      report({ message: 'the request sends no part of the id, such as {id.0}' }, ['split']);
    }
  },
).describe('How to request one reservation, for thin events and for fetching a reservation again.');

export const guestRequestSchema = crossChecked(
  z.strictObject({
    ...requestParts({ id: 'the id of the guest', brand_id: singlePlaceholders.brand_id ?? '' }),
    root_path: answerPath().optional().describe('The path of the guest in the answer, such as Customers[0].'),
  }),
  (request, report) => {
    checkBody(request, report);
    if (!sends(request, singlePlaceholders, 'id')) report({ message: 'sends no {id}' });
  },
).describe(
  'How to request one guest, for guest events that only name the guest. Its fields are those of the first `guests` in push.map or map.',
);

function usedParts({ path, query, body, headers }: Readonly<Record<string, unknown>>): string[] {
  const names = [...textsIn([path, query, body, headers])].flatMap(({ text }) => placeholdersIn(text));
  return names.map(({ name }) => name).filter((name) => idParts.includes(name));
}

/** Checks that the connector joins ids with the separator by which the single request splits them. */
export function checkJoinedIds(connector: unknown, report: Report): void {
  const split = valueAt(connector, ['pull', 'single', 'split']);
  if (typeof split !== 'string') return;
  const places = [
    ['map', 'id'],
    ['pull', 'single', 'map', 'id'],
    ['push', 'map', 'id'],
    ['push', 'thin', 'id'],
  ] as const;
  for (const place of places) {
    const id = valueAt(connector, place);
    if (valueAt(id, ['join']) === undefined) continue;
    const between = valueAt(id, ['with']) ?? ' ';
    if (between === split) continue;
    const message = `joins the id with ${JSON.stringify(between)}, but pull.single splits it on ${JSON.stringify(split)}`;
    report({ message }, place);
  }
}
