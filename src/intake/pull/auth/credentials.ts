import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '../../../errors.ts';
import type { PullPlan, PullPorts } from '../ports.ts';
import { type OpenRequest, toWire, type WireRequest } from '../request.ts';
import { type Auth, type OAuth2, secretsOf } from '../settings.ts';
import { withFixed, withHeaders } from './fixed.ts';
import { signed } from './hmac.ts';
import { type Bearer, bearerToken } from './oauth2.ts';

export type Authorized =
  | { readonly kind: 'ok'; readonly wire: WireRequest }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode;
      readonly message: string;
      /** Worth another try by itself. */
      readonly passing: boolean;
    };

/** The credentials of one integration while a run goes on. */
export interface Credentials {
  /** The request as it goes out; called anew for each attempt. */
  authorize(request: OpenRequest): Promise<Authorized>;
  /** After a 401: what was sent last is not used again where anything newer can be had. */
  renew(): Promise<void>;
  /** The partner answered: a pause because of refused credentials ends. */
  worked(): Promise<void>;
  /** Text that must not show. */
  secrets(): string[];
}

export function credentialsFor(ports: PullPorts, plan: PullPlan): Credentials {
  const { integration } = plan.settings;
  let { auth, headers }: { auth: Auth; headers: Readonly<Record<string, string>> } = plan.settings;
  let bearer: Bearer | undefined;
  let stale: Bearer | undefined;
  let told = false;

  async function withToken(request: OpenRequest, oauth: OAuth2): Promise<Authorized> {
    const got = await bearerToken(ports, integration, oauth, stale);
    if (got.kind === 'failed') return got;
    bearer = got.bearer;
    return sendable(toWire(withHeaders(request, { Authorization: `Bearer ${bearer.token}` })));
  }

  return {
    async authorize(asked) {
      const request = withHeaders(asked, headers);
      if (auth.type === 'oauth2') return withToken(request, auth);
      if (auth.type === 'hmac') {
        const moment = { now: ports.clock.now(), nonce: randomBytes(16).toString('hex') };
        return sendable(signed(toWire(request), auth, moment));
      }
      return sendable(toWire(withFixed(request, auth)));
    },
    async renew() {
      stale = bearer;
      // A key that was rotated outside shows when its reference is read again.
      const planned = await ports.plan(integration);
      if (planned.kind === 'ok') ({ auth, headers } = planned.plan.settings);
    },
    async worked() {
      if (told) return;
      told = true;
      await ports.partners.authWorked(integration);
    },
    secrets: () => [...secretsOf(auth), ...Object.values(headers), ...(bearer === undefined ? [] : [bearer.token])],
  };
}

/** A secret that was pasted with a line break in it cannot be a header: said here by name, where the client would only throw. */
function sendable(wire: WireRequest): Authorized {
  const broken = Object.entries(wire.headers).find(([, value]) => !/^[\t\x20-\x7e\x80-\xff]*$/.test(value));
  if (broken === undefined) return { kind: 'ok', wire };
  const message = `the header ${broken[0]} cannot be sent: its value holds a line break or a character that headers cannot carry`;
  return { kind: 'failed', code: 'pull.auth_failed', message, passing: false };
}
