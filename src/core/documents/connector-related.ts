import { z } from 'zod';
import { answerPath, idsPath } from './answer-path.ts';
import { crossChecked, type Report } from './checked.ts';
import { flatKey } from './connector-mapping.ts';
import { paginationSchema } from './connector-pagination.ts';
import { checkBody, requestParts, sends } from './connector-request.ts';
import { acknowledgePlaceholders, relatedPlaceholders, requestPlaceholders } from './placeholders.ts';

const idSource = z.union(
  [
    idsPath(),
    z.strictObject({
      table: z.string().min(1).describe('The name of a table that is listed before this one.'),
      path: idsPath().describe('Where its rows hold the id.'),
    }),
  ],
  { error: 'must be a path in the rows, or { table, path } for the rows of an earlier table' },
);

const tableSchema = crossChecked(
  z.strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z_][\w-]*$/, { error: 'must be a plain name, such as customers' })
      .describe('The mapping finds the rows at `$body.NAME`.'),
    ids: z
      .union([idSource, z.array(idSource).min(1)], { error: 'must be a path, or a list of them' })
      .optional()
      .describe(
        'Where the rows of the list hold the ids to request; the path may pass through lists. `{ table, path }` reads them from the rows of an earlier table. Each id is requested once per page. Without `ids`, the whole table is requested, once per run.',
      ),
    ...requestParts(relatedPlaceholders),
    chunk: z.int().min(1).max(10_000).default(100).describe('Maximum number of ids in one request.'),
    root_path: answerPath()
      .optional()
      .describe(
        'The path of the rows in the answer, or of a single row; `$item` if the answer itself is the row. By default the table’s name, or the answer itself if it is a list.',
      ),
    id_as: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The name under which each row gets the requested id, for answers that do not repeat it, such as /reservations/{ids}/guests. Needs `chunk: 1`.',
      ),
    pagination: paginationSchema
      .default({ type: 'none' })
      .describe('How answers are paged, if one id can have many rows.'),
  }),
  (table, report) => {
    checkBody(table, report);
    const sendsIds = sends(table, relatedPlaceholders, 'ids', 'ids.joined');
    if (table.ids === undefined && sendsIds)
      report({ message: 'sends {ids}, but has no ids: say where the rows hold them' });
    if (table.ids !== undefined && !sendsIds)
      report({ message: 'sends no {ids}; for a table that is requested whole, remove ids' }, ['ids']);
    if (table.id_as !== undefined && table.chunk !== 1)
      report({ message: 'needs chunk: 1: an answer for several ids does not show which row belongs to which' }, [
        'id_as',
      ]);
  },
);

/** The call after a page is stored. */
const acknowledgeParts = {
  ...requestParts(acknowledgePlaceholders),
  method: z.enum(['GET', 'POST']).default('GET').describe('The method of the call. Without `body` it has none.'),
};
const checkAcknowledge = (request: Readonly<Record<string, unknown>>, report: Report): void => {
  checkBody(request, report);
  if (!sends(request, acknowledgePlaceholders, 'ids', 'ids.joined', 'id')) report({ message: 'sends no {ids}' });
};
export const acknowledgeSchema = crossChecked(
  z.strictObject({
    ...acknowledgeParts,
    ids: flatKey
      .optional()
      .describe(
        'Where a row has what {ids} and {id} hold, such as a receipt: a path, or a field with any source, such as { pick: … }; by default the reservation’s id.',
      ),
  }),
  checkAcknowledge,
);

/** Lists beside the first, each with its own acknowledgement. What acknowledges a row is the same in all. */
export const furtherListsSchema = z
  .array(
    crossChecked(
      z.strictObject({
        ...requestParts(requestPlaceholders),
        acknowledge: crossChecked(z.strictObject(acknowledgeParts), checkAcknowledge)
          .optional()
          .describe('The call that acknowledges a page of this list.'),
      }),
      checkBody,
    ),
  )
  .describe(
    'Further lists that every run reads after the first, such as a second queue. Their rows are mapped as those of `request`; shape.also says where they are, if it is another place.',
  );

/** Further requests for what the rows of a page only name by id. */
export const relatedSchema = crossChecked(z.array(tableSchema), (tables, report) => {
  const known = new Set<unknown>();
  Object.values(tables).forEach((table, i) => {
    const { name, ids } = (table ?? {}) as { name?: unknown; ids?: unknown };
    if (known.has(name)) report({ message: `${String(name)} is listed twice` }, [i, 'name']);
    checkSources(Array.isArray(ids) ? ids : [ids], known, (problem) => report(problem, [i, 'ids']));
    known.add(name);
  });
});

function checkSources(sources: readonly unknown[], known: ReadonlySet<unknown>, report: Report): void {
  for (const source of sources) {
    if (typeof source !== 'object' || source === null) continue;
    const { table } = source as { table?: unknown };
    if (typeof table === 'string' && !known.has(table))
      report({ message: `no table ${table} is listed before this one` });
  }
}
