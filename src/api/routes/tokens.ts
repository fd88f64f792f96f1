import { z } from 'zod';
import { noIntegration } from '../../errors/no-integration.ts';
import type { TokenRole, TokenRow } from '../../store/operate/tokens.ts';
import { type Role, roles, tokenRoles } from '../caller.ts';
import { beforeOf, paged, pageOf, pageQuery } from '../paging.ts';
import { instant, notFound, ok, problem, type Route, route } from '../route.ts';

export interface TokenPorts {
  readonly list: (page: {
    readonly before: { readonly at: string; readonly id: string } | undefined;
    readonly limit: number;
  }) => Promise<readonly TokenRow[]>;
  readonly create: (wanted: {
    readonly name: string;
    readonly role: TokenRole;
    readonly integrations: readonly string[] | null;
    readonly lifeMs?: number;
    readonly by: string;
  }) => Promise<{ readonly token: string; readonly row: TokenRow }>;
  readonly revoke: (tokenId: string) => Promise<boolean>;
  readonly signInLink: (wanted: {
    readonly name: string;
    readonly role: Role;
    readonly integrations: readonly string[] | null;
    readonly by: string;
  }) => Promise<{ readonly url: string; readonly expires_at: Date }>;
  readonly integrations: () => readonly string[];
}

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

export function tokenRoutes(ports: TokenPorts): Route[] {
  const unknown = (names: readonly string[] | null): string | undefined =>
    names?.find((name) => !ports.integrations().includes(name));
  return [
    route({
      method: 'GET',
      path: '/tokens',
      id: 'tokens.list',
      summary: 'Active tokens and sessions, newest first',
      tag: 'tokens',
      role: 'admin',
      scope: 'all',
      query: z.strictObject(pageQuery),
      response: pageOf(token),
      handle: async ({ query: { cursor, limit } }) => {
        const rows = await ports.list({ before: beforeOf(cursor), limit: limit + 1 });
        return ok(paged(rows, limit, ({ created_at, token_id }) => [created_at.toISOString(), token_id]));
      },
    }),
    route({
      method: 'POST',
      path: '/tokens',
      id: 'tokens.create',
      summary: 'Create a token',
      description: 'The token is shown only in this response: only its hash is stored.',
      tag: 'tokens',
      role: 'admin',
      scope: 'all',
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
        const lifeMs = days === undefined ? {} : { lifeMs: days * 86_400_000 };
        const made = await ports.create({ ...rest, ...lifeMs, by: caller.name });
        return ok({ ...made.row, token: made.token });
      },
    }),
    route({
      method: 'DELETE',
      path: '/tokens/{token_id}',
      id: 'tokens.revoke',
      summary: 'Revoke a token',
      description: 'It ends at once, together with the sessions created from it.',
      tag: 'tokens',
      role: 'admin',
      scope: 'all',
      params: z.strictObject({ token_id: z.string().max(100) }),
      response: z.object({ revoked: z.literal(true) }),
      handle: async ({ params }) =>
        (await ports.revoke(params.token_id)) ? ok({ revoked: true }) : notFound(`valid token ${params.token_id}`),
    }),
    route({
      method: 'POST',
      path: '/sign-in-links',
      id: 'tokens.sign_in_link',
      summary: 'Create a one-time sign-in link to the console',
      tag: 'tokens',
      role: 'admin',
      scope: 'all',
      status: 201,
      body: z.strictObject({ ...holder, role: z.enum(roles) }),
      response: z.object({ url: z.string(), expires_at: instant }),
      handle: async ({ body, caller }) => {
        const missing = unknown(body.integrations);
        if (missing !== undefined) return problem(422, 'documents.unknown_name', noIntegration(missing));
        return ok(await ports.signInLink({ ...body, by: caller.name }));
      },
    }),
  ];
}
