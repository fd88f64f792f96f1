import { z } from 'zod';
import { noIntegration } from '../../errors/no-integration.ts';
import { publicUrl } from '../../operations/endpoints.ts';
import { createSignIn, createToken } from '../../operations/tokens.ts';
import { listTokens, revokeToken } from '../../store/operate/tokens.ts';
import { roles, tokenRoles } from '../caller.ts';
import { beforeOf, paged, pageOf, pageQuery } from '../paging.ts';
import { type Api, instant, notFound, ok, problem, type Route, route } from '../route.ts';

const token = z.object({
  token_id: z.string(),
  kind: z.enum(['api', 'sign_in', 'session']),
  name: z.string(),
  role: z.enum(tokenRoles),
  integrations: z.array(z.string()).nullable(),
  created_at: instant,
  created_by: z.string(),
  expires_at: instant.nullable(),
  last_used_at: instant.nullable(),
  revoked_at: instant.nullable(),
  subject: z.string().nullable().describe('Issuer and subject, if the person signed in through an identity provider.'),
});
const holder = {
  name: z.string().trim().min(1).max(100).describe('Who or what it is for; written into the audit log.'),
  integrations: z
    .array(z.string().min(1))
    .min(1)
    .nullable()
    .default(null)
    .describe('Limited to these integrations; null for all.'),
};

export function tokenRoutes({ runtime }: Api): Route[] {
  const unknown = (names: readonly string[] | null): string | undefined =>
    names?.find((name) => !runtime.active().integrations.has(name));
  return [
    route('GET /tokens', {
      id: 'tokens.list',
      summary: 'Active tokens and sessions, newest first',
      role: 'admin',
      query: z.strictObject({
        ...pageQuery,
        of: z.enum(['people', 'programs']).optional().describe('Only sessions and sign-in links, or only tokens.'),
      }),
      response: pageOf(token),
      handle: async ({ query: { cursor, limit, of } }) => {
        const rows = await listTokens(runtime.pool, { before: beforeOf(cursor), limit: limit + 1, of });
        return ok(paged(rows, limit, ({ created_at, token_id }) => [created_at.toISOString(), token_id]));
      },
    }),
    route('POST /tokens', {
      id: 'tokens.create',
      summary: 'Create a token',
      description: 'The token is shown only in this response: only its hash is stored.',
      role: 'admin',
      status: 201,
      body: z.strictObject({
        ...holder,
        role: z.enum(tokenRoles),
        days: z
          .int()
          .min(1)
          .max(3650)
          .optional()
          .describe('Days until it expires; without it, the token does not expire.'),
      }),
      response: token.extend({ token: z.string() }),
      handle: async ({ body, caller }) => {
        const missing = unknown(body.integrations);
        if (missing !== undefined) return problem(422, 'documents.unknown_name', noIntegration(missing));
        const { days, ...rest } = body;
        const lifeMs = days === undefined ? undefined : days * 86_400_000;
        const made = await createToken(runtime, { ...rest, lifeMs, by: caller.name });
        return ok({ ...made.row, token: made.token });
      },
    }),
    route('DELETE /tokens/{token_id}', {
      id: 'tokens.revoke',
      summary: 'Revoke a token',
      description: 'It ends at once, together with the sessions created from it.',
      role: 'admin',
      response: z.object({ revoked: z.literal(true) }),
      handle: async ({ params }) =>
        (await revokeToken(runtime.pool, params.token_id))
          ? ok({ revoked: true })
          : notFound(`valid token ${params.token_id}`),
    }),
    route('POST /sign-in-links', {
      id: 'tokens.sign_in_link',
      summary: 'Create a one-time sign-in link to the console',
      role: 'admin',
      status: 201,
      body: z.strictObject({ ...holder, role: z.enum(roles) }),
      response: z.object({ url: z.string(), expires_at: instant }),
      handle: async ({ body, caller }) => {
        const missing = unknown(body.integrations);
        if (missing !== undefined) return problem(422, 'documents.unknown_name', noIntegration(missing));
        const { path, expires_at } = await createSignIn(runtime, { ...body, by: caller.name });
        return ok({ url: `${await publicUrl(runtime)}${path}`, expires_at });
      },
    }),
  ];
}
