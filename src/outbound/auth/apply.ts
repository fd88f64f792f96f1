import { randomBytes } from 'node:crypto';
import type { PullSettings } from '../../documents/pull.ts';
import type { AskPorts } from '../ask/ports.ts';
import type { OpenRequest, WireRequest } from '../ask/request.ts';
import { answering, type Challenge } from './digest.ts';
import { withFixed, withHeaders } from './fixed.ts';
import { signed } from './hmac.ts';
import { loginToken, withLoginToken } from './login.ts';
import { type AuthFailure, type Bearer, bearerToken } from './oauth2.ts';

/** Whose credentials are added, and what earlier attempts taught about them. */
export interface Holder {
  /** Keys the stored tokens. */
  readonly owner: Parameters<typeof bearerToken>[1];
  readonly auth: PullSettings['auth'];
  readonly baseUrl: string;
  /** A token that was refused. */
  readonly stale: Bearer | undefined;
  readonly challenge?: Challenge | undefined;
  /** How many requests have answered the challenge, this one included. */
  readonly answers?: number;
}

export type Applied =
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
  { owner, auth, baseUrl, stale, challenge, answers = 0 }: Holder,
  request: OpenRequest,
): Promise<Applied> {
  const nonce = () => randomBytes(16).toString('hex');
  switch (auth.type) {
    case 'login': {
      const got = await loginToken(ports, owner, baseUrl, auth, stale);
      return got.kind === 'failed' ? got : { ...got, request: withLoginToken(request, auth, got.bearer.token) };
    }
    case 'oauth2': {
      const got = await bearerToken(ports, owner, auth, stale);
      if (got.kind === 'failed') return got;
      return { ...got, request: withHeaders(request, { Authorization: `Bearer ${got.bearer.token}` }) };
    }
    case 'hmac':
      return { kind: 'ok', request, sign: (wire) => signed(wire, auth, { now: ports.clock.now(), nonce: nonce() }) };
    case 'digest':
      // Without a challenge, the request is sent as it is, to get one.
      if (challenge === undefined) return { kind: 'ok', request };
      return {
        kind: 'ok',
        request,
        sign: (wire) => answering(wire, auth, challenge, { count: answers, cnonce: nonce() }),
      };
    default:
      return { kind: 'ok', request: withFixed(request, auth) };
  }
}
