import { z } from 'zod';
import { jsonSchema } from '../../documents/json-schema.ts';
import { maskedSource } from '../../documents/typed-secrets.ts';
import { documentImpact } from '../../operations/document-impact.ts';
import { listConnectors } from '../../operations/list-connectors.ts';
import { documentText, documentVersions, listDocuments } from '../../store/documents/list.ts';
import { documentName } from '../forms.ts';
import { type Api, anyJson, instant, notFound, ok, type Route, route } from '../route.ts';

export const kinds = z.enum(['connector', 'integration', 'destination', 'workspace']);
export const named = z.strictObject({ kind: kinds, name: documentName });
const row = z.object({
  kind: kinds,
  name: z.string(),
  version: z.int(),
  applied_at: instant,
  applied_by: z.string(),
});

export function documentRoutes({ runtime }: Api): Route[] {
  const path = '/documents/{kind}/{name}';
  const { pool } = runtime;
  return [
    route('GET /documents', {
      id: 'documents.list',
      summary: 'The documents in force',
      role: 'viewer',
      query: z.strictObject({ kind: kinds.optional() }),
      response: z.object({ items: z.array(row) }),
      handle: async ({ query }) => ok({ items: await listDocuments(pool, query.kind) }),
    }),
    route('GET /connectors', {
      id: 'connectors.list',
      summary: 'The connectors that an integration can name: those in force and those shipped with Innbound',
      role: 'viewer',
      response: z.object({
        items: z.array(
          z.object({
            name: z.string(),
            title: z.string().nullable(),
            description: z.string().nullable(),
            shipped: z.boolean().describe('Not in force yet: the first integration that names it puts it in force.'),
          }),
        ),
      }),
      handle: async () => ok({ items: await listConnectors(runtime) }),
    }),
    route(`GET ${path}`, {
      id: 'documents.get',
      summary: 'One document as written, and its versions',
      description: 'Credentials in it are masked. Masked credentials that are sent back keep their value.',
      role: 'viewer',
      params: named,
      query: z.strictObject({ version: z.coerce.number().int().min(1).optional() }),
      response: row.extend({ source: z.string(), versions: z.array(row) }),
      handle: async ({ params: { kind, name }, query }) => {
        const found = await documentText(pool, kind, name, query.version);
        const version = query.version === undefined ? '' : `version ${query.version} of `;
        if (!found) return notFound(`${version}${kind} ${name}`);
        // Earlier versions of Innbound sealed fewer fields, and stored the texts of some credentials.
        const source = maskedSource(found.kind, found.source);
        return ok({ ...found, source, versions: await documentVersions(pool, kind, name) });
      },
    }),
    route(`GET ${path}/impact`, {
      id: 'documents.impact',
      summary: 'How many brands and records a change of this document concerns',
      role: 'viewer',
      params: named,
      response: z.object({
        integrations: z.array(z.string()),
        records: z.object({ reservation: z.int(), guest: z.int() }),
      }),
      handle: async ({ params: { kind, name } }) => ok(await documentImpact(runtime, kind, name)),
    }),
    route('GET /schemas/{kind}', {
      id: 'documents.schema',
      summary: 'The JSON Schema of a kind of document, for editors',
      role: 'viewer',
      params: z.strictObject({ kind: kinds }),
      response: anyJson,
      handle: ({ params }) => ok(jsonSchema(params.kind)),
    }),
  ];
}
