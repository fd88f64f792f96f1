import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { recordSchemas } from '../../core/canonical/schema.ts';
import { escapeHtml } from '../../kit/html.ts';
import { cookieName } from './caller.ts';
import { apiPrefix } from './dispatch.ts';
import type { Route } from './route.ts';

/** The resource that a route belongs to. */
export type Tagged = Route & { readonly tag: string };

type Schema = { [key: string]: unknown };

/** Only the page behind an onboarding link calls the others, with the cookie of its browser. */
const isPublished = ({ role }: Route): boolean => role !== 'partner';

const about =
  'Everything that an operator, the console or a script can see and do. Lists are paged with cursors; errors are application/problem+json (RFC 9457) with a stable code. x-role is the minimum role of the token, x-scope how the route relates to integrations.';

/** The routes as an OpenAPI 3.1 document, from the definitions that the server enforces. */
export function openApiDocument(routes: readonly Tagged[]): Schema {
  const paths: { [path: string]: { [method: string]: Schema } } = {};
  for (const route of routes.filter(isPublished)) {
    const path = `${apiPrefix}${route.path}`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Innbound',
      version: '1',
      description: about,
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
          name: cookieName(true, 'session'),
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
    parameters: parametersOf(route),
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

function parametersOf({ params, query }: Route) {
  return Object.entries({ path: params, query }).flatMap(([where, schema]) => {
    const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
      properties?: { [name: string]: Schema & { description?: string } };
      required?: string[];
    };
    return Object.entries(properties).map(([name, { description, ...rest }]) => ({
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    }));
  });
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

const scopes: Readonly<Record<Route['scope']['kind'], string>> = {
  any: 'within the token’s integrations',
  param: 'the integration in the path',
  object: 'the integration that the object belongs to',
  all: 'only tokens for all integrations',
};

/** The API reference as one page without scripts or external resources. */
export function referencePage(routes: readonly Tagged[]): string {
  const tags = Map.groupBy(routes.filter(isPublished), ({ tag }) => tag);
  const menu = [...tags.keys()].map((tag) => `<li><a href="#${slug(tag)}">${escapeHtml(tag)}</a></li>`).join('');
  const sections = Array.from(
    tags,
    ([tag, mine]) => `<section id="${slug(tag)}"><h2>${escapeHtml(tag)}</h2>${mine.map(describe).join('')}</section>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Innbound API</title><style>${style}</style></head><body><nav><h1>Innbound API</h1><ul>${menu}</ul>
<p><a href="/api/v1/openapi.json">OpenAPI 3.1</a></p></nav><main><p>${escapeHtml(about)}</p>
<pre>curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:4180/api/v1/overview</pre>${sections.join('')}</main></body></html>`;
}

function describe(route: Tagged): string {
  const { id, method, path, summary, description, role, scope, body, response, status } = route;
  const rows = parametersOf(route).map(
    (one) =>
      `<tr><td><code>${escapeHtml(one.name)}</code></td><td>${one.in}${one.required ? '' : ', optional'}</td><td>${escapeHtml(one.description ?? '')} <code>${escapeHtml(JSON.stringify(one.schema))}</code></td></tr>`,
  );
  return `<article id="${slug(id)}"><h3><b>${method}</b> <code>${escapeHtml(apiPrefix + path)}</code></h3>
<p>${escapeHtml(summary)}.</p>${description === undefined ? '' : `<p>${escapeHtml(description)}</p>`}
<p class="who">role ${role}; ${scopes[scope.kind]}</p>
${rows.length > 0 ? `<table>${rows.join('')}</table>` : ''}
${body ? `<details><summary>Body</summary><pre>${pretty(jsonSchema(body, 'input'))}</pre></details>` : ''}
<details><summary>Answer ${status}</summary><pre>${pretty(jsonSchema(response, 'output'))}</pre></details></article>`;
}

const pretty = (schema: object): string => escapeHtml(JSON.stringify(schema, null, 2));
const slug = (value: string): string => value.replace(/\W+/g, '-');

const style = `:root{color-scheme:light dark;--ink:light-dark(#1d2230,#e8e4da);--line:light-dark(#d9d2c3,#3a4154);--brass:light-dark(#8a6420,#d9b26a)}
body{margin:0;font:15px/1.55 system-ui,sans-serif;color:var(--ink);background:light-dark(#fbf8f1,#141824);display:grid;grid-template-columns:14rem 1fr}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.5rem;box-sizing:border-box;border-right:1px solid var(--line)}nav ul{list-style:none;padding:0}
nav h1{font-size:1.1rem}a{color:var(--brass)}main{padding:1.5rem 2rem;max-width:60rem;min-width:0}h3{font-size:1rem;margin:0}h3 b{color:var(--brass)}
article{border-top:1px solid var(--line);padding:1rem 0}.who{opacity:.75;font-size:.9em}table{border-collapse:collapse;font-size:.9em}td{padding:.2rem .8rem .2rem 0;vertical-align:top}
pre{overflow:auto;font-size:.85em;padding:.8rem;border:1px solid var(--line)}@media(max-width:50rem){body{display:block}nav{position:static;height:auto;border:0}}`;
