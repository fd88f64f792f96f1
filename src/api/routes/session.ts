import { z } from 'zod';
import { createSession } from '../../operations/tokens.ts';
import { revokeSession, revokeSessionsOf, revokeToken } from '../../store/operate/tokens.ts';
import { isServedOverHttps, roles } from '../caller.ts';
import { flowCookieOf, secondsUntil, sessionCookieOf } from '../cookies.ts';
import { type Api, instant, ok, problem, type Route, route } from '../route.ts';

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
    'set-cookie': sessionCookieOf(isServedOverHttps(runtime), value, maxAgeS),
  });
  return [
    route('POST /session', {
      id: 'session.create',
      summary: 'Sign in',
      description:
        'Exchanges a one-time sign-in token (or an API token) for a session cookie. Requests with the cookie that change data also need the header X-Innbound-Console.',
      role: 'public',
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
    route('GET /session', {
      id: 'session.get',
      summary: 'Who am I',
      role: 'viewer',
      scope: 'any',
      response: who,
      handle: ({ caller }) => ok({ name: caller.name, role: caller.role, integrations: caller.integrations ?? null }),
    }),
    route('DELETE /session', {
      id: 'session.end',
      summary: 'Sign out',
      role: 'viewer',
      scope: 'any',
      response: z.object({ ended: z.boolean() }),
      handle: async ({ caller }) => {
        if (caller.kind === 'session') await revokeToken(pool, caller.tokenId);
        return ok({ ended: caller.kind === 'session' }, cookie('', 0));
      },
    }),
    route('DELETE /session/everywhere', {
      id: 'session.end_everywhere',
      summary: 'Sign out in every browser',
      description:
        'Ends every session of the same person at the identity provider, or every session made from the same token.',
      role: 'viewer',
      scope: 'any',
      response: z.object({ ended: z.int() }),
      handle: async ({ caller }) =>
        ok({ ended: caller.kind === 'session' ? await revokeSessionsOf(pool, caller.tokenId) : 0 }, cookie('', 0)),
    }),
    route('GET /session/ways', {
      id: 'session.ways',
      summary: 'The ways to sign in other than a token or link',
      role: 'public',
      scope: 'any',
      response: z.object({ oidc: z.object({ label: z.string() }).nullable() }),
      handle: () => {
        const label = oidc.label();
        return ok({ oidc: label === undefined ? null : { label } });
      },
    }),
    route('POST /session/oidc', {
      id: 'session.oidc',
      summary: 'Start a sign-in at the identity provider',
      description: 'For the console: returns the address to open, and sets a cookie that the callback needs.',
      role: 'public',
      // The sign-in is audited when it ends, because anybody can start one.
      asks: true,
      scope: 'any',
      response: z.object({ url: z.string() }),
      handle: async ({ fromConsole }) => {
        if (!fromConsole) return problem(403, 'operate.forbidden', 'Only the console can start a sign-in.');
        const begun = await oidc.begin();
        if (begun.kind === 'unavailable') return problem(409, 'operate.sign_in_unavailable', `${begun.why}.`);
        return ok({ url: begun.url }, { 'set-cookie': flowCookieOf(isServedOverHttps(runtime), begun.cookie, 600) });
      },
    }),
  ];
}
