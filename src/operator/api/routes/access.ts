import { z } from 'zod';
import { noIntegration } from '../../../errors/no-integration.ts';
import { publicUrl } from '../../operations/endpoints.ts';
import { createSession, createSignIn, createToken } from '../../operations/tokens.ts';
import { anyJson, instant } from '../../store/answers.ts';
import { listAudit } from '../../store/audit.ts';
import {
  listTokens,
  revokeSession,
  revokeSessionsOf,
  revokeToken,
  tokenRoles,
  tokenSchema,
} from '../../store/tokens.ts';
import { isServedOverHttps, newCookie, roles, secondsUntil } from '../caller.ts';
import { beforeOf, decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { type Api, admin, anyone, type Node, ok, okIf, problem, type Route, viewer } from '../route.ts';

const who = z.object({
  name: z.string(),
  role: z.enum(roles),
  integrations: z
    .array(z.string())
    .nullable()
    .describe('The integrations that the token is limited to; null means all.'),
});

export function sessionRoutes({ runtime, oidc }: Api): Route[] {
  const { pool } = runtime;
  const cookie = (value: string, maxAgeS: number): Record<string, string> => ({
    'set-cookie': newCookie(isServedOverHttps(runtime), 'session', value, maxAgeS),
  });
  return [
    anyone('POST /session', {
      id: 'session.create',
      summary: 'Sign in',
      description:
        'Exchanges a one-time sign-in token (or an API token) for a session cookie. Requests with the cookie that change data also need the header X-Innbound-Console.',
      scope: 'any',
      body: z.strictObject({ token: z.string().min(8).max(200) }),
      response: who.extend({ expires_at: instant }),
      handle: async ({ body, cookie: previous }) => {
        const signed = await createSession(runtime, body.token);
        if (signed === undefined) {
          return problem(401, 'operate.unauthorized', 'The sign-in link is unknown, expired or already used.');
        }
        if (previous !== undefined) await revokeSession(pool, previous);
        const { name, role, integrations, expires_at } = signed.row;
        const maxAgeS = secondsUntil(expires_at, runtime.clock.now());
        return { ...ok({ name, role, integrations, expires_at }, cookie(signed.session, maxAgeS)), actor: name };
      },
    }),
    viewer('GET /session', {
      id: 'session.get',
      summary: 'Who am I',
      scope: 'any',
      response: who,
      handle: ({ caller }) => ok({ name: caller.name, role: caller.role, integrations: caller.integrations ?? null }),
    }),
    viewer('DELETE /session', {
      id: 'session.end',
      summary: 'Sign out',
      scope: 'any',
      response: z.object({ ended: z.boolean() }),
      handle: async ({ caller }) => {
        if (caller.kind === 'session') await revokeToken(pool, caller.tokenId);
        return ok({ ended: caller.kind === 'session' }, cookie('', 0));
      },
    }),
    viewer('DELETE /session/everywhere', {
      id: 'session.end_everywhere',
      summary: 'Sign out in every browser',
      description:
        'Ends every session of the same person at the identity provider, or every session made from the same token.',
      scope: 'any',
      response: z.object({ ended: z.int() }),
      handle: async ({ caller }) =>
        ok({ ended: caller.kind === 'session' ? await revokeSessionsOf(pool, caller.tokenId) : 0 }, cookie('', 0)),
    }),
    anyone('GET /session/ways', {
      id: 'session.ways',
      summary: 'The ways to sign in other than a token or link',
      scope: 'any',
      response: z.object({ oidc: z.object({ label: z.string() }).nullable() }),
      handle: () => {
        const label = oidc.label();
        return ok({ oidc: label === undefined ? null : { label } });
      },
    }),
    anyone('POST /session/oidc', {
      id: 'session.oidc',
      summary: 'Start a sign-in at the identity provider',
      description: 'For the console: returns the address to open, and sets a cookie that the callback needs.',
      // The sign-in is audited when it ends, because anybody can start one.
      asks: true,
      scope: 'any',
      response: z.object({ url: z.string() }),
      handle: async ({ fromConsole }) => {
        if (!fromConsole) return problem(403, 'operate.forbidden', 'Only the console can start a sign-in.');
        const begun = await oidc.begin();
        if (begun.kind === 'unavailable') return problem(409, 'operate.sign_in_unavailable', `${begun.why}.`);
        const flow = newCookie(isServedOverHttps(runtime), 'sign_in', begun.cookie, 600);
        return ok({ url: begun.url }, { 'set-cookie': flow });
      },
    }),
  ];
}

const holder = {
  name: z.string().trim().min(1).max(100).describe('Who or what it is for; written into the audit log.'),
  integrations: z
    .array(z.string().min(1))
    .min(1)
    .nullable()
    .default(null)
    .describe('Limited to these integrations; null for all.'),
};

export function tokenRoutes({ runtime }: Node): Route[] {
  const unknown = (names: readonly string[] | null): string | undefined =>
    names?.find((name) => !runtime.active().integrations.has(name));
  return [
    admin('GET /tokens', {
      id: 'tokens.list',
      summary: 'Active tokens and sessions, newest first',
      query: z.strictObject({
        ...pageQuery,
        of: z.enum(['people', 'programs']).optional().describe('Only sessions and sign-in links, or only tokens.'),
      }),
      response: pageOf(tokenSchema),
      handle: async ({ query: { cursor, limit, of } }) => {
        const rows = await listTokens(runtime.pool, { before: beforeOf(cursor), limit: limit + 1, of });
        return ok(paged(rows, limit, ({ created_at, token_id }) => [created_at.toISOString(), token_id]));
      },
    }),
    admin('POST /tokens', {
      id: 'tokens.create',
      summary: 'Create a token',
      description: 'The token is shown only in this response: only its hash is stored.',
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
      response: tokenSchema.extend({ token: z.string() }),
      handle: async ({ body, caller }) => {
        const missing = unknown(body.integrations);
        if (missing !== undefined) return problem(422, 'documents.unknown_name', noIntegration(missing));
        const { days, ...rest } = body;
        const lifeMs = days === undefined ? undefined : days * 86_400_000;
        const made = await createToken(runtime, { ...rest, lifeMs, by: caller.name });
        return ok({ ...made.row, token: made.token });
      },
    }),
    admin('DELETE /tokens/{token_id}', {
      id: 'tokens.revoke',
      summary: 'Revoke a token',
      description: 'It ends at once, together with the sessions created from it.',
      response: z.object({ revoked: z.literal(true) }),
      handle: async ({ params: { token_id: id } }) =>
        okIf(await revokeToken(runtime.pool, id), { revoked: true }, `valid token ${id}`),
    }),
    admin('POST /sign-in-links', {
      id: 'tokens.sign_in_link',
      summary: 'Create a one-time sign-in link to the console',
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

export function auditRoutes({ runtime: { pool } }: Node): Route[] {
  return [
    admin('GET /audit', {
      id: 'audit.list',
      summary: 'Who changed what and who read payloads, newest first',
      query: z.strictObject({
        ...pageQuery,
        action: z.string().max(100).optional(),
        actor: z.string().max(200).optional(),
        integration: z.string().optional(),
      }),
      response: pageOf(
        z.object({
          audit_id: z.int(),
          at: instant,
          actor: z.string(),
          token_id: z.string().nullable(),
          action: z.string(),
          integration: z.string().nullable(),
          target: anyJson,
          status: z.int().nullable(),
          request_id: z.string().nullable(),
          address: z.string().nullable(),
        }),
      ),
      handle: async ({ query }) => {
        const { action, actor, integration, limit } = query;
        const [before] = decodeCursor(query.cursor, 'number');
        const rows = await listAudit(pool, {
          action,
          actor,
          integration,
          before: before === undefined ? undefined : Number(before),
          limit: limit + 1,
        });
        return ok(paged(rows, limit, (row) => [row.audit_id]));
      },
    }),
  ];
}
