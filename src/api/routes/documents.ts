import { z } from 'zod';
import type { DocumentKind } from '../../documents/kinds.ts';
import type { DocumentImpact } from '../../operations/document-impact.ts';
import type { ConnectorRow } from '../../operations/list-connectors.ts';
import type { DocumentRow } from '../../store/documents/list.ts';
import { anyJson, instant, notFound, ok, type Route, route } from '../route.ts';

/** What is in force, and what was. */
export interface DocumentReadPorts {
  readonly list: (kind: DocumentKind | undefined) => Promise<readonly DocumentRow[]>;
  readonly text: (
    kind: DocumentKind,
    name: string,
    version: number | undefined,
  ) => Promise<(DocumentRow & { readonly source: string }) | undefined>;
  readonly versions: (kind: DocumentKind, name: string) => Promise<readonly DocumentRow[]>;
  readonly impact: (kind: DocumentKind, name: string) => Promise<DocumentImpact>;
  readonly schema: (kind: DocumentKind) => unknown;
  /** The connectors that an integration can name. */
  readonly connectors: () => Promise<readonly ConnectorRow[]>;
}

export const kinds = z.enum(['connector', 'integration', 'destination', 'workspace']);
export const named = z.strictObject({ kind: kinds, name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,99}$/) });
const row = z.object({
  kind: kinds,
  name: z.string(),
  version: z.int(),
  applied_at: instant,
  applied_by: z.string(),
});
export function documentRoutes(ports: DocumentReadPorts): Route[] {
  const path = '/documents/{kind}/{name}';
  const common = { tag: 'documents', scope: 'all' } as const;
  return [
    route({
      ...common,
      method: 'GET',
      path: '/documents',
      id: 'documents.list',
      summary: 'The documents in force',
      role: 'viewer',
      query: z.strictObject({ kind: kinds.optional() }),
      response: z.object({ items: z.array(row) }),
      handle: async ({ query }) => ok({ items: await ports.list(query.kind) }),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/connectors',
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
      handle: async () => ok({ items: await ports.connectors() }),
    }),
    route({
      ...common,
      method: 'GET',
      path,
      id: 'documents.get',
      summary: 'One document as written, and its versions',
      description: 'Credentials in it are masked. Masked credentials that are sent back keep their value.',
      role: 'viewer',
      params: named,
      query: z.strictObject({ version: z.coerce.number().int().min(1).optional() }),
      response: row.extend({ source: z.string(), versions: z.array(row) }),
      handle: async ({ params: { kind, name }, query }) => {
        const found = await ports.text(kind, name, query.version);
        const version = query.version === undefined ? '' : `version ${query.version} of `;
        if (!found) return notFound(`${version}${kind} ${name}`);
        return ok({ ...found, versions: await ports.versions(kind, name) });
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: `${path}/impact`,
      id: 'documents.impact',
      summary: 'How many brands and records a change of this document concerns',
      role: 'viewer',
      params: named,
      response: z.object({
        integrations: z.array(z.string()),
        records: z.object({ reservation: z.int(), guest: z.int() }),
      }),
      handle: async ({ params: { kind, name } }) => ok(await ports.impact(kind, name)),
    }),
    route({
      ...common,
      method: 'GET',
      path: '/schemas/{kind}',
      id: 'documents.schema',
      summary: 'The JSON Schema of a kind of document, for editors',
      role: 'viewer',
      params: z.strictObject({ kind: kinds }),
      response: anyJson,
      handle: ({ params }) => ok(ports.schema(params.kind)),
    }),
  ];
}
