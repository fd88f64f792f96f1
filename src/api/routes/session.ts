import { z } from 'zod';
import { type Caller, roles } from '../caller.ts';
import { flowCookieOf, sessionCookieOf } from '../cookies.ts';
import { instant, ok, problem, type Route, route } from '../route.ts';

/** `why` is for anybody: it names neither the provider's host nor an error of the network. */
type OidcRefused =
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'wait'; readonly why: string; readonly seconds: number };

export interface SessionPorts {
  /** Creates a session from a one-time sign-in token, which is consumed, or from an API token. */
  readonly signIn: (token: string) => Promise<
    | {
        readonly session: string;
        readonly expires_at: Date;
        readonly caller: Pick<Caller, 'name' | 'role' | 'integrations'>;
      }
    | undefined
  >;
  readonly signOut: (tokenId: string) => Promise<void>;
  /** Ends every session of the same person or token. Returns how many. */
  readonly signOutEverywhere: (tokenId: string) => Promise<number>;
  /** Ends the session of a browser that signs in again. */
  readonly endPrevious: (session: string) => Promise<void>;
  readonly oidc: {
    readonly label: () => string | undefined;
    readonly begin: () => Promise<{ kind: 'ok'; url: string; cookie: string } | { kind: 'unavailable'; why: string }>;
    readonly finish: (
      query: URLSearchParams,
      cookie: string | undefined,
      about: { readonly address: string; readonly requestId: string },
    ) => Promise<{ readonly kind: 'session'; readonly session: string; readonly expiresAt: Date } | OidcRefused>;
    readonly logout: (
      token: string,
      about: { readonly address: string; readonly requestId: string },
    ) => Promise<{ readonly kind: 'done' } | OidcRefused>;
  };
  readonly now: () => number;
  /** Whether the console is served over https, so that the cookie can be Secure. */
  readonly secure: () => boolean;
}

const who = z.object({
  name: z.string(),
  role: z.enum(roles),
  integrations: z
    .array(z.string())
    .nullable()
    .describe('The integrations that the token is limited to; null means all.'),
});

export function sessionRoutes(ports: SessionPorts): Route[] {
  const cookie = (value: string, maxAgeS: number): Record<string, string> => ({
    'set-cookie': sessionCookieOf(ports.secure(), value, maxAgeS),
  });
  return [
    route({
      method: 'POST',
      path: '/session',
      id: 'session.create',
      summary: 'Sign in',
      description:
        'Exchanges a one-time sign-in token (or an API token) for a session cookie. Requests with the cookie that change data also need the header X-Innbound-Console.',
      tag: 'session',
      role: 'public',
      scope: 'any',
      body: z.strictObject({ token: z.string().min(8).max(200) }),
      response: who.extend({ expires_at: instant }),
      handle: async ({ body, cookie: previous }) => {
        const signed = await ports.signIn(body.token);
        if (signed === undefined) {
          return problem(401, 'operate.unauthorized', 'The sign-in link is unknown, expired or already used.');
        }
        if (previous !== undefined) await ports.endPrevious(previous);
        const { caller, expires_at, session } = signed;
        const maxAgeS = Math.floor((expires_at.getTime() - ports.now()) / 1000);
        const { name, role, integrations = null } = caller;
        return { ...ok({ name, role, integrations, expires_at }, cookie(session, maxAgeS)), actor: name };
      },
    }),
    route({
      method: 'GET',
      path: '/session',
      id: 'session.get',
      summary: 'Who am I',
      tag: 'session',
      role: 'viewer',
      scope: 'any',
      response: who,
      handle: ({ caller }) => ok({ name: caller.name, role: caller.role, integrations: caller.integrations ?? null }),
    }),
    route({
      method: 'DELETE',
      path: '/session',
      id: 'session.end',
      summary: 'Sign out',
      tag: 'session',
      role: 'viewer',
      scope: 'any',
      response: z.object({ ended: z.boolean() }),
      handle: async ({ caller }) => {
        if (caller.kind === 'session') await ports.signOut(caller.tokenId);
        return ok({ ended: caller.kind === 'session' }, cookie('', 0));
      },
    }),
    route({
      method: 'DELETE',
      path: '/session/everywhere',
      id: 'session.end_everywhere',
      summary: 'Sign out in every browser',
      description:
        'Ends every session of the same person at the identity provider, or every session made from the same token.',
      tag: 'session',
      role: 'viewer',
      scope: 'any',
      response: z.object({ ended: z.int() }),
      handle: async ({ caller }) =>
        ok({ ended: caller.kind === 'session' ? await ports.signOutEverywhere(caller.tokenId) : 0 }, cookie('', 0)),
    }),
    route({
      method: 'GET',
      path: '/session/ways',
      id: 'session.ways',
      summary: 'The ways to sign in other than a token or link',
      tag: 'session',
      role: 'public',
      scope: 'any',
      response: z.object({ oidc: z.object({ label: z.string() }).nullable() }),
      handle: () => {
        const label = ports.oidc.label();
        return ok({ oidc: label === undefined ? null : { label } });
      },
    }),
    route({
      method: 'POST',
      path: '/session/oidc',
      id: 'session.oidc',
      summary: 'Start a sign-in at the identity provider',
      description: 'For the console: returns the address to open, and sets a cookie that the callback needs.',
      tag: 'session',
      role: 'public',
      // The sign-in is audited when it ends, because anybody can start one.
      asks: true,
      scope: 'any',
      body: z.strictObject({}),
      response: z.object({ url: z.string() }),
      handle: async ({ fromConsole }) => {
        if (!fromConsole) return problem(403, 'operate.forbidden', 'Only the console can start a sign-in.');
        const begun = await ports.oidc.begin();
        if (begun.kind === 'unavailable') return problem(409, 'operate.sign_in_unavailable', `${begun.why}.`);
        return ok({ url: begun.url }, { 'set-cookie': flowCookieOf(ports.secure(), begun.cookie, 600) });
      },
    }),
  ];
}
