import { z } from 'zod';
import { jsonSchema } from '../../../core/documents/json-schema.ts';
import { mistakeSchema } from '../../../core/documents/mistake.ts';
import { systemSchema } from '../../../core/documents/systems.ts';
import { documentText, documentVersions, listDocuments } from '../../../core/store/documents/list.ts';
import { applyDocument, documentImpact, removeDocument, validateDocument } from '../../operations/edit-documents.ts';
import { listConnectors } from '../../operations/list-connectors.ts';
import { addedSpelling, addSpelling, listUnknown, spelledField } from '../../operations/spellings.ts';
import { anyJson, instant } from '../../store/answers.ts';
import { documentName, itemsOf } from '../forms.ts';
import { admin, type Node, notFound, ok, type Route, viewer } from '../route.ts';

export const kinds = z.enum(['connector', 'integration', 'destination', 'workspace']);
const named = z.strictObject({ kind: kinds, name: documentName });
const row = z.object({
  kind: kinds,
  name: z.string(),
  version: z.int(),
  applied_at: instant,
  applied_by: z.string(),
});
const text = z.string().max(1024 * 1024);
const unknown = z.object({
  field: spelledField,
  value: z.string().describe('As the partners write it.'),
  times: z.int().describe('In how many changes of records.'),
  brands: z.array(z.string()),
  last_at: instant,
  known: z.array(z.string()).describe('The values that the workspace has spellings of.'),
  likely: z.string().nullable().describe('The one that looks most like it.'),
});

export function documentRoutes({ runtime }: Node): Route[] {
  const path = '/documents/{kind}/{name}';
  const { pool } = runtime;
  return [
    viewer('GET /documents', {
      id: 'documents.list',
      summary: 'The documents in force',
      query: z.strictObject({ kind: kinds.optional() }),
      response: z.object({ items: z.array(row) }),
      handle: async ({ query }) => ok({ items: await listDocuments(pool, query.kind) }),
    }),
    viewer('GET /connectors', {
      id: 'connectors.list',
      summary: 'The connectors that an integration can name: those in force and those shipped with Innbound',
      query: z.strictObject({
        search: z.string().max(100).optional().describe('A name, another name, the vendor or the market of a system.'),
      }),
      response: itemsOf({
        name: z.string(),
        title: z.string().nullable(),
        description: z.string().nullable(),
        shipped: z.boolean().describe('Not in force yet: the first integration that names it puts it in force.'),
        system: systemSchema.nullable().describe('What is known of its system; null if it is not a shipped one.'),
      }),
      handle: async ({ query: { search } }) => ok({ items: await listConnectors(runtime, search) }),
    }),
    viewer(`GET ${path}`, {
      id: 'documents.get',
      summary: 'One document as written, and its versions',
      description: 'Typed credentials were sealed when the document was applied: references stand in their place.',
      params: named,
      query: z.strictObject({ version: z.coerce.number().int().min(1).optional() }),
      response: row.extend({ source: z.string(), versions: z.array(row) }),
      handle: async ({ params: { kind, name }, query }) => {
        const stored = await documentText(pool, kind, name, query.version);
        const version = query.version === undefined ? '' : `version ${query.version} of `;
        if (!stored) return notFound(`${version}${kind} ${name}`);
        return ok({ ...stored, versions: await documentVersions(pool, kind, name) });
      },
    }),
    viewer(`GET ${path}/impact`, {
      id: 'documents.impact',
      summary: 'How many brands and records a change of this document concerns',
      params: named,
      response: z.object({
        integrations: z.array(z.string()),
        records: z.object({ reservation: z.int(), guest: z.int() }),
      }),
      handle: async ({ params: { kind, name } }) => ok(await documentImpact(runtime, kind, name)),
    }),
    viewer('GET /schemas/{kind}', {
      id: 'documents.schema',
      summary: 'The JSON Schema of a kind of document, for editors',
      params: z.strictObject({ kind: kinds }),
      response: anyJson,
      handle: ({ params }) => ok(jsonSchema(params.kind)),
    }),
    viewer('POST /documents/validate', {
      id: 'documents.validate',
      asks: true,
      summary: 'Validate a document together with the others; nothing is applied',
      body: z.strictObject({ kind: kinds, name: named.shape.name.optional(), text }),
      response: z.object({
        valid: z.boolean(),
        mistakes: z.array(mistakeSchema),
        warnings: z
          .array(mistakeSchema.extend({ severity: z.literal('warning') }))
          .describe('Warnings: allowed, but probably a mistake. The document can be applied.'),
        holds_credentials: z
          .boolean()
          .describe('Whether credentials are typed into the text; true for a text that cannot be read.'),
      }),
      handle: async ({ body }) => {
        const { mistakes, warnings, holdsCredentials } = await validateDocument(
          runtime,
          body.kind,
          body.name,
          body.text,
        );
        return ok({ valid: mistakes.length === 0, mistakes, warnings, holds_credentials: holdsCredentials });
      },
    }),
    admin(`PUT ${path}`, {
      id: 'documents.apply',
      summary: 'Write one document into the workspace and put it in force',
      description:
        'A connector that makes other records of its kept samples than they must become is refused with `documents.case_changed` and the names of the cases, unless `accept_cases` is true.',
      params: named,
      body: z.strictObject({
        text,
        accept_cases: z
          .boolean()
          .default(false)
          .describe('For a connector: from now on its kept samples expect the records that this text produces.'),
        replaces: z
          .int()
          .min(0)
          .optional()
          .describe(
            'The version that the text was made from, 0 for a new document. If another version is in force, the text is refused with `documents.outdated`. Without it, the text replaces any version.',
          ),
      }),
      response: z.object({ version: z.int(), file: z.string() }),
      handle: async ({ params: { kind, name }, body, caller }) =>
        ok(
          await applyDocument(runtime, { kind, name, text: body.text }, caller.name, {
            acceptCases: body.accept_cases,
            replaces: body.replaces,
          }),
        ),
    }),
    admin(`DELETE ${path}`, {
      id: 'documents.remove',
      summary: 'Remove one document from the workspace; its versions and data are kept',
      params: named,
      response: z.object({ version: z.int(), file: z.string() }),
      handle: async ({ params: { kind, name }, caller }) => ok(await removeDocument(runtime, kind, name, caller.name)),
    }),
    viewer('GET /spellings/unknown', {
      id: 'spellings.unknown',
      summary: 'Channels, sources and boards that brands send and no value map lists',
      response: z.object({ items: z.array(unknown) }),
      handle: async () => ok({ items: await listUnknown(runtime) }),
    }),
    admin('POST /spellings', {
      id: 'spellings.add',
      summary: 'Add a spelling for all brands to innbound.yaml',
      body: addedSpelling,
      response: z.object({ version: z.int(), file: z.string() }),
      handle: async ({ body, caller }) => ok(await addSpelling(runtime, body, caller.name)),
    }),
  ];
}
