import { randomBytes } from 'node:crypto';
import type { Auth } from '../../../documents/pull.ts';
import { parseJson } from '../../../kit/json.ts';
import type { Authorizer, Outgoing } from '../../../outbound/authorizer.ts';
import { type IntegrationName, isObject } from '../../../terms.ts';
import type { PullPorts } from '../ports.ts';
import { type OpenRequest, toWire } from '../request.ts';
import { withFixed, withHeaders } from './fixed.ts';
import { signed } from './hmac.ts';
import { type Bearer, bearerToken } from './oauth2.ts';

/** The auth methods for requests other than pulls. `owner` keys the stored tokens. */
export function outgoingCredentials(
  ports: Pick<PullPorts, 'tokens' | 'clock' | 'http'>,
  owner: string,
  auth: Auth,
): Authorizer {
  const used = new WeakMap<Outgoing, Bearer>();
  let newest: Bearer | undefined;
  let stale: Bearer | undefined;
  let renewedInVain: string | undefined;
  return {
    async authorize(request) {
      if (auth.type === 'hmac') {
        const { pathname, search } = new URL(request.url);
        const wire = { ...request, method: request.method as 'GET', pathQuery: pathname + search };
        const moment = { now: ports.clock.now(), nonce: randomBytes(16).toString('hex') };
        return { kind: 'ok', request: { ...request, headers: signed(wire, auth, moment).headers } };
      }
      if (auth.type === 'oauth2') {
        const refused = stale;
        const got = await bearerToken(ports, owner as IntegrationName, auth, refused);
        if (got.kind === 'failed') return { kind: 'failed', message: got.message };
        const { bearer } = got;
        newest = bearer;
        if (bearer.token === refused?.token) renewedInVain = bearer.token;
        const { headers } = withHeaders(opened(request), { Authorization: `Bearer ${bearer.token}` });
        const authorized = { ...request, headers };
        used.set(authorized, bearer);
        return { kind: 'ok', request: authorized };
      }
      const needsBody = auth.type === 'custom' && Object.keys(auth.body ?? {}).length > 0;
      const open = withFixed(opened(request, needsBody), auth);
      const { url } = toWire({ ...open, headers: {} });
      const body = needsBody && open.body !== undefined ? JSON.stringify(open.body) : request.body;
      return { kind: 'ok', request: { ...request, url, headers: open.headers, ...(body !== undefined && { body }) } };
    },
    async refused(request) {
      const bearer = used.get(request);
      if (bearer === undefined || bearer.token === renewedInVain) return false;
      // Otherwise another call has received a newer one already.
      if (bearer.token === newest?.token) stale = bearer;
      return true;
    },
  };
}

function opened(request: Outgoing, withBody = false): OpenRequest {
  const open = { method: request.method as 'GET', base: request.url, query: [], headers: request.headers };
  const body = withBody && request.body !== undefined ? parseJson(request.body) : undefined;
  return isObject(body) ? { ...open, body } : open;
}
