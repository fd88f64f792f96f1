import { z } from 'zod';
import { type Caller, roles, sessionCookie } from '../caller.ts';
import { instant, ok, problem, type Route, route } from '../route.ts';

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
    'set-cookie': `${sessionCookie(ports.secure())}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}${ports.secure() ? '; Secure' : ''}`,
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
      handle: async ({ body }) => {
        const signed = await ports.signIn(body.token);
        if (signed === undefined) {
          return problem(401, 'operate.unauthorized', 'The sign-in link is unknown, expired or already used.');
        }
        const { caller, expires_at, session } = signed;
        const maxAgeS = Math.floor((expires_at.getTime() - Date.now()) / 1000);
        return ok(
          { name: caller.name, role: caller.role, integrations: caller.integrations ?? null, expires_at },
          cookie(session, maxAgeS),
        );
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
  ];
}
