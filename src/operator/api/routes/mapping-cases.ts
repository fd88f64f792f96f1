import { z } from 'zod';
import { differenceSchema } from '../../../core/canonical/schema.ts';
import { deleteCase } from '../../../core/store/documents/mapping-cases.ts';
import { checkCases, saveCase } from '../../operations/mapping-cases.ts';
import { instant } from '../../store/answers.ts';
import { documentName, itemsOf, connectorText as text } from '../forms.ts';
import { type Node, ok, okIf, operator, type Route } from '../route.ts';

const caseName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,99}$/);

/** Samples of a connector with the records that its mapping must keep producing. */
export function mappingCaseRoutes({ runtime }: Node): Route[] {
  return [
    operator('POST /connectors/{connector}/cases/check', {
      id: 'cases.check',
      asks: true,
      payload: true,
      summary: 'Map the kept samples of a connector and compare the records with the expected ones',
      params: z.strictObject({ connector: documentName }),
      body: z.strictObject({ text }),
      response: itemsOf({
        name: z.string(),
        sample: z.string(),
        push: z.boolean(),
        timezone: z.string().nullable(),
        country: z.string().nullable(),
        saved_at: instant,
        saved_by: z.string(),
        passes: z.boolean(),
        diff: z.array(differenceSchema),
        message: z.string().nullable().describe('Why the sample cannot be mapped at all.'),
      }),
      handle: async ({ params, body }) => ok({ items: await checkCases(runtime, params.connector, body.text) }),
    }),
    operator('PUT /connectors/{connector}/cases/{name}', {
      id: 'cases.save',
      summary: 'Keep a sample with the records that it produces now',
      params: z.strictObject({ connector: documentName, name: caseName }),
      body: z.strictObject({
        text,
        sample: z
          .string()
          .min(1)
          .max(1024 * 1024),
        push: z.boolean().default(false),
        timezone: z.string().max(100).optional(),
        country: z.string().max(2).optional(),
      }),
      response: z.object({ saved: z.literal(true) }),
      handle: async ({ params, body, caller }) => {
        await saveCase(runtime, params.connector, { name: params.name, ...body }, caller.name);
        return ok({ saved: true });
      },
    }),
    operator('DELETE /connectors/{connector}/cases/{name}', {
      id: 'cases.remove',
      summary: 'Delete a kept sample',
      params: z.strictObject({ connector: documentName, name: caseName }),
      response: z.object({ removed: z.literal(true) }),
      handle: async ({ params: { connector, name } }) =>
        okIf(await deleteCase(runtime.pool, connector, name), { removed: true }, `case ${name}`),
    }),
  ];
}
