import { z } from 'zod';
import { offThread } from '../../operations/off-thread.ts';
import { type Api, anyJson, ok, problem, type Route, route } from '../route.ts';
import { newName, sample } from './studio.ts';

export function importRoutes({ runtime }: Api): Route[] {
  return [
    route('POST /import', {
      id: 'map.import',
      asks: true,
      summary: 'Propose a connector from an API description (OpenAPI 3, Swagger 2, Postman), for review',
      description: 'Reads only the text: references to other files or addresses are ignored. Nothing is stored.',
      role: 'viewer',
      scope: 'any',
      body: z.strictObject({
        description: z
          .string()
          .min(1)
          .max(4 * 1024 * 1024)
          .describe('The description, as JSON or YAML text.'),
        name: newName,
        operation: z
          .string()
          .max(500)
          .optional()
          .describe(
            'The operation that lists reservations, such as "GET /reservations"; the likeliest one unless given.',
          ),
        sample: sample.optional().describe('A response of that operation, as JSON text; it decides shape and mapping.'),
      }),
      response: z.object({
        format: z.string().describe('The format of the description, such as OpenAPI 3.1.0.'),
        connector: z.string().describe('The proposed document as text, with a reason for each line.'),
        integration: anyJson.describe(
          'The part of an integration that the description contains: base_url, auth, headers.',
        ),
        operations: z
          .array(z.object({ operation: z.string(), score: z.number(), reason: z.string() }))
          .describe('The operations that look like lists of reservations, the likeliest first.'),
        fields: z
          .array(z.object({ field: z.string(), path: z.string(), confidence: z.number(), reason: z.string() }))
          .describe('The confidence and reason for each line.'),
        unmapped: z.array(z.string()).describe('Fields of the description that are not mapped.'),
        unknown: z.array(z.string()).describe('Status values that are missing from the value maps.'),
        notes: z.array(z.string()).describe('What a person still has to do.'),
      }),
      handle: async ({ body }) => {
        const made = await offThread(runtime, 'importDescription', body);
        if (made.kind === 'wrong') return problem(422, 'operate.invalid_input', made.message);
        const { kind: _, ...proposal } = made;
        return ok(proposal);
      },
    }),
  ];
}
