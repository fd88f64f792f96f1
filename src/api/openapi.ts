import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { recordSchemas } from '../canonical/schema.ts';
import { sessionCookie } from './caller.ts';
import { apiPrefix } from './dispatch.ts';
import type { Route } from './route.ts';

/** The resource that a route belongs to. */
export type Tagged = Route & { readonly tag: string };

type Schema = { [key: string]: unknown };

/** The routes as an OpenAPI 3.1 document, from the definitions that the server enforces. */
export function openApiDocument(routes: readonly Tagged[]): Schema {
  const paths: { [path: string]: { [method: string]: Schema } } = {};
  for (const route of routes) {
    // Only the page behind an onboarding link calls these, with the cookie of its browser.
    if (route.role === 'partner') continue;
    const path = `${apiPrefix}${route.path}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Innbound',
      version: '1',
      description:
        'Everything that an operator, the console or a script can see and do. Lists are paged with cursors; errors are application/problem+json (RFC 9457) with a stable code. x-role is the minimum role of the token, x-scope how the route relates to integrations.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'Created with `innbound token create`.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie(true),
          description:
            'The console’s session; over plain HTTP its name has no __Host- prefix. Requests that change data also need the header X-Innbound-Console.',
        },
      },
      schemas: {
        Problem: problemSchema,
        Reservation: z.toJSONSchema(records.reservation, { io: 'input' }),
        Guest: z.toJSONSchema(records.guest, { io: 'input' }),
      },
    },
  };
}

/** The canonical records as JSON. Viewers get their personal fields masked. */
const records = recordSchemas(z.number());

const problemSchema: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'request_id'],
  properties: {
    type: { type: 'string', description: 'urn:innbound:error: and the code.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'Stable; see docs/errors.md.' },
    detail: { type: 'string' },
    request_id: { type: 'string' },
  },
};

function operation(route: Tagged): Schema {
  const guarded = route.role !== 'public';
  const problems = [
    ...(guarded ? [401, 403] : [401]),
    ...(route.path.includes('{') ? [404] : []),
    ...(route.method === 'GET' ? [] : [409]),
    422,
    429,
  ];
  return {
    operationId: route.id,
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    tags: [route.tag],
    'x-role': route.role,
    'x-scope': route.scope.kind,
    ...(route.payload && {
      'x-audited': 'The response may contain guest data: reading it is audited, and the role viewer gets it masked.',
    }),
    ...(guarded ? {} : { security: [] }),
    parameters: [...parametersOf(route.params, 'path'), ...parametersOf(route.query, 'query')],
    ...(route.body && {
      requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(route.body, 'input') } } },
    }),
    responses: {
      [route.status]: {
        description: STATUS_CODES[route.status] ?? 'Done',
        content: { [route.media ?? 'application/json']: { schema: jsonSchema(route.response, 'output') } },
      },
      ...Object.fromEntries(
        problems.map((status) => [
          status,
          {
            description: STATUS_CODES[status] ?? '',
            content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
          },
        ]),
      ),
    },
  };
}

function parametersOf(schema: z.ZodType, where: 'path' | 'query'): Schema[] {
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    properties?: { [name: string]: Schema };
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(description !== undefined && { description }),
    schema: rest,
  }));
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    io,
    reused: 'inline',
    unrepresentable: 'any',
    override: ({ jsonSchema: made }) => {
      // All our integers are safe integers; repeating that everywhere makes the document unreadable.
      if (made.maximum === Number.MAX_SAFE_INTEGER) delete made.maximum;
      if (made.minimum === Number.MIN_SAFE_INTEGER) delete made.minimum;
    },
  });
  return made;
}
