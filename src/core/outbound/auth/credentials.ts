import { randomBytes } from 'node:crypto';
import type { PullSettings } from '../../documents/pull.ts';
import { usualHeaders, writeAdapted } from '../ask/adapter.ts';
import type { AskPlan, AskPorts } from '../ask/ports.ts';
import { type OpenRequest, toWire, type WireRequest, withHeaders, withParts } from '../ask/request.ts';
import { secretsOf, textsIn, withFixed } from './fixed.ts';
import { signed } from './hmac.ts';
import { loginToken, withLoginToken } from './login.ts';
import { type AuthFailure, type Bearer, bearerToken } from './oauth2.ts';

type Authorized = { readonly kind: 'ok'; readonly wire: WireRequest } | AuthFailure;

export type Credentials = ReturnType<typeof credentialsFor>;

/** The credentials of one integration during a run. */
export function credentialsFor(ports: AskPorts, plan: AskPlan) {
  const { integration, account } = plan.settings;
  let own: Pick<PullSettings, 'headers' | 'query' | 'body'> = plan.settings;
  let auth: PullSettings['auth'] = plan.settings.auth;
  let bearer: Bearer | undefined;
  let stale: Bearer | undefined;
  let hasReported = false;

  /** The request as sent. An adapter may write its body, which is then signed. */
  async function sent(request: OpenRequest, sign = (wire: WireRequest) => wire): Promise<Authorized> {
    const { adapter } = plan.settings;
    const headers = withHeaders(usualHeaders(adapter, request), request.headers);
    const wire = toWire({ ...request, headers });
    const written =
      adapter === undefined || request.body === undefined
        ? ({ kind: 'ok', wire } as const)
        : await writeAdapted(adapter, wire, request.body);
    return written.kind === 'failed' ? written : sendable(sign(written.wire));
  }

  return {
    /** The request as sent; called for each attempt. */
    async authorize(asked: OpenRequest): Promise<Authorized> {
      const request = withFixed(asked, { type: 'custom', headers: own.headers, query: own.query, body: own.body });
      const holder = { owner: account, auth, baseUrl: plan.settings.base_url, stale };
      const got = await withCredentials(ports, holder, request);
      if (got.kind === 'failed') return got;
      bearer = got.bearer ?? bearer;
      return sent(got.request, got.sign);
    },
    /** After a 401: fetches newer credentials if there are any. */
    async renew() {
      stale = bearer;
      // Picks up a key that was rotated outside, by reading its reference again.
      const planned = await ports.plan(integration);
      if (planned.kind !== 'ok') return;
      own = planned.plan.settings;
      auth = planned.plan.settings.auth;
    },
    /** The partner accepted the credentials: ends a pause after refused ones. */
    async worked() {
      if (hasReported) return;
      hasReported = true;
      await ports.partners.authWorked(integration);
    },
    /** When the credentials of the last request are renewed, if that is known. */
    renewedAt: () => bearer?.renewedAt,
    /** Values to mask. */
    secrets: () => [
      ...secretsOf(auth),
      ...[own.headers, own.query, own.body].flatMap((part) => textsIn(part ?? {})),
      ...(bearer === undefined ? [] : [bearer.token]),
    ],
  };
}

/** A secret pasted with a line break cannot be a header. Reported here by header name; the HTTP client would only throw. */
function sendable(wire: WireRequest): Authorized {
  const broken = Object.entries(wire.headers).find(([, value]) => !/^[\t\x20-\x7e\x80-\xff]*$/.test(value));
  if (broken === undefined) return { kind: 'ok', wire };
  const message = `the header ${broken[0]} cannot be sent: its value contains a line break or another character not allowed in headers`;
  return { kind: 'failed', code: 'pull.auth_failed', message, passing: false };
}

/** Whose credentials are added. */
interface Holder {
  /** Keys the stored tokens. */
  readonly owner: Parameters<typeof bearerToken>[1];
  readonly auth: PullSettings['auth'];
  readonly baseUrl: string;
  /** A token that was refused. */
  readonly stale: Bearer | undefined;
}

type WithCredentials =
  | {
      readonly kind: 'ok';
      readonly request: OpenRequest;
      /** For credentials that depend on the exact bytes. */
      readonly sign?: (wire: WireRequest) => WireRequest;
      readonly bearer?: Bearer;
    }
  | AuthFailure;

/** Adds the credentials of one attempt, of every style, for pulls and for destinations. */
export async function withCredentials(
  ports: Pick<AskPorts, 'tokens' | 'clock' | 'http'>,
  { owner, auth, baseUrl, stale }: Holder,
  request: OpenRequest,
): Promise<WithCredentials> {
  switch (auth.type) {
    case 'login': {
      const got = await loginToken(ports, owner, baseUrl, auth, stale);
      return got.kind === 'failed' ? got : { ...got, request: withLoginToken(request, auth, got.bearer.token) };
    }
    case 'oauth2': {
      const got = await bearerToken(ports, owner, auth, stale);
      if (got.kind === 'failed') return got;
      return { ...got, request: withParts(request, { headers: { Authorization: `Bearer ${got.bearer.token}` } }) };
    }
    case 'hmac': {
      const nonce = randomBytes(16).toString('hex');
      return { kind: 'ok', request, sign: (wire) => signed(wire, auth, { now: ports.clock.now(), nonce }) };
    }
    default:
      return { kind: 'ok', request: withFixed(request, auth) };
  }
}
