import { z } from 'zod';
import { noteSchema } from '../../../core/canonical/schema.ts';
import { noIntegration } from '../../../errors/no-integration.ts';
import { type IntegrationName, isDocumentName, type Json } from '../../../terms.ts';
import { fetchSample } from '../../operations/fetch-sample.ts';
import { connectorText } from '../../operations/list-connectors.ts';
import { offThread } from '../../operations/off-thread.ts';
import { mappingEffect } from '../../operations/reprocess.ts';
import { anyJson, counts } from '../../store/answers.ts';
import { connectorText as connector, documentName } from '../forms.ts';
import { type Node, ok, operator, problem, type Route, viewer } from '../route.ts';
import { exchange } from './runs.ts';

const sample = z
  .string()
  .min(1)
  .max(4 * 1024 * 1024)
  .describe('A response from the partner (or an event), as JSON text.');

const newName = documentName.default('new-connector');

/** The mapping studio's routes. They store nothing. */
export function studioRoutes({ runtime }: Node): Route[] {
  return [
    viewer('POST /map/preview', {
      id: 'map.preview',
      asks: true,
      summary: 'Map a sample with a connector: canonical records, origins, notes, unmapped fields',
      scope: 'any',
      body: z.strictObject({
        connector: connector.describe('The connector’s document as text, or the name of a connector.'),
        sample,
        integration: z.string().optional().describe('Use the time zone, country and rules of this integration.'),
        timezone: z
          .string()
          .max(100)
          .optional()
          .describe('Without an integration: the time zone of the property; UTC unless given.'),
        country: z
          .string()
          .max(2)
          .optional()
          .describe('Without an integration: the country of the property, for local phone numbers.'),
        push: z.boolean().default(false).describe('The sample is an event.'),
        limit: z.int().min(1).max(100).default(20),
      }),
      response: z.object({
        mistakes: z.array(z.looseObject({ line: z.int(), column: z.int(), path: z.string(), message: z.string() })),
        problem: z.object({ code: z.string(), message: z.string() }).optional(),
        total: z.int(),
        records: z.array(
          z.looseObject({
            kind: z.enum(['record', 'dropped', 'dead']),
            id: z.string().optional(),
            record: anyJson.optional(),
            notes: z.array(noteSchema).optional(),
            origins: z.record(z.string(), z.string()).optional(),
            unmapped: z.array(z.string()).optional(),
            raw: anyJson.optional().describe('The raw record, as the mapping sees it.'),
            code: z.string().optional(),
            message: z.string().optional(),
          }),
        ),
        unmatched: z
          .array(z.object({ at: z.string(), path: z.string() }))
          .describe('Paths of the mapping that match nothing in any record of the sample.'),
        repeated: z
          .array(z.object({ id: z.string(), times: z.int() }))
          .describe('Ids that several records of the sample have; a run keeps the last one.'),
        filled: z
          .array(z.object({ field: z.string(), filled: z.int(), of: z.int() }))
          .describe('How many of the records, guests, rooms and charges have a usable value in each field.'),
        unlisted: z
          .array(z.object({ status: z.string(), times: z.int() }))
          .describe('Statuses that no value map lists: their records are `other`.'),
      }),
      handle: async ({ body, within }) => {
        const { integration, ...asked } = body;
        if (integration !== undefined && within !== undefined && !within.includes(integration)) {
          return problem(404, 'operate.not_found', noIntegration(integration));
        }
        const named = isDocumentName(body.connector) ? await connectorText(runtime, body.connector) : body.connector;
        if (named === undefined) return problem(404, 'operate.not_found', `There is no connector ${body.connector}.`);
        const { integrations, settings } = runtime.active();
        const brand = integration === undefined ? undefined : integrations.get(integration)?.body;
        const request = { ...asked, connector: named };
        return ok(
          await offThread(runtime, 'preview', { asked: request, integration: brand, spellings: settings.spellings }),
        );
      },
    }),
    viewer('POST /map/suggest', {
      id: 'map.suggest',
      asks: true,
      summary: 'Suggest a connector for a sample, for review',
      scope: 'any',
      body: z.strictObject({
        sample,
        name: newName,
      }),
      response: z.object({
        connector: z.string().describe('The suggested document as text, with a reason for each line.'),
        fields: z.array(anyJson).describe('The confidence and reason for each suggestion.'),
        unmapped: z.array(z.string()).describe('Paths of the sample that are not mapped.'),
        unknown: z.array(z.string()).describe('Status values that are missing from the value maps.'),
      }),
      handle: async ({ body }) => {
        const made = await offThread(runtime, 'suggest', body);
        if (made.kind === 'nothing') return problem(422, 'operate.invalid_input', made.message);
        const { kind: _, ...proposal } = made;
        return ok(proposal);
      },
    }),
    viewer('POST /map/assign', {
      id: 'map.assign',
      asks: true,
      summary: 'Map one field of a raw record to a canonical field, in the text of a connector',
      scope: 'any',
      body: z.strictObject({
        connector,
        field: z
          .string()
          .regex(/^[a-z_]+(\.[a-z0-9_]+)?$/)
          .describe('Such as check_in, guests.last_name or extra.floor.'),
        path: z.string().min(1).max(500).describe('Its place in the raw record, such as guests[0].family.'),
        lookup: z
          .strictObject({ in: z.string().max(500), key: z.string().max(500), value: z.string().max(500) })
          .optional()
          .describe('The path holds an id: take `value` of the row of the list `in` whose `key` is that id.'),
      }),
      response: z.object({ connector: z.string() }),
      handle: async ({ body }) => {
        const done = await offThread(runtime, 'assign', body);
        return done.kind === 'ok'
          ? ok({ connector: done.connector })
          : problem(422, 'operate.invalid_input', done.message);
      },
    }),
    operator('POST /integrations/{integration}/mapping-effect', {
      id: 'map.effect',
      asks: true,
      payload: true,
      summary: 'What a changed connector would do to the last 100 stored payloads of a brand; changes nothing',
      body: z.strictObject({ connector }),
      response: z.object({
        ...counts('records', 'changed', 'unchanged', 'refused'),
        samples: z.array(z.object({ id: z.string(), diff: anyJson })),
      }),
      handle: async ({ params, body }) => ok(await mappingEffect(runtime, params.integration, body.connector)),
    }),
    operator('POST /integrations/{integration}/sample', {
      id: 'map.fetch',
      summary: 'Fetch one page from the partner as a sample',
      payload: true,
      response: z.object({
        sample: z.string(),
        window: z.object({ from: z.string(), to: z.string() }),
        request: exchange.optional().describe('What was requested, without credentials, and how the answer began.'),
      }),
      handle: async ({ params }) => {
        const fetched = await fetchSample(runtime, params.integration as IntegrationName);
        if (fetched.kind === 'failed') {
          const { code, message, request } = fetched;
          return problem(409, code, message, request && { request: request as unknown as Json });
        }
        const { kind: _, ...page } = fetched;
        return ok(page);
      },
    }),
    viewer('POST /import', {
      id: 'map.import',
      asks: true,
      summary: 'Propose a connector from an API description (OpenAPI 3, Swagger 2, Postman), for review',
      description: 'Reads only the text: references to other files or addresses are ignored. Nothing is stored.',
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
