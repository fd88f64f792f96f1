import { parseJson } from '../../../kit/json.ts';
import { type IntegrationName, isObject } from '../../../terms.ts';
import type { Auth } from '../../documents/pull.ts';
import type { AskPorts } from '../ask/ports.ts';
import { type OpenRequest, toWire } from '../ask/request.ts';
import { withCredentials } from './credentials.ts';
import type { Bearer } from './oauth2.ts';

/** The auth methods for requests other than pulls. `owner` keys the stored tokens. */
export function outgoingCredentials(
  ports: Pick<AskPorts, 'tokens' | 'clock' | 'http'>,
  owner: string,
  auth: Auth,
): Authorizer {
  const used = new WeakMap<Outgoing, Bearer>();
  let newest: Bearer | undefined;
  let stale: Bearer | undefined;
  let renewedInVain: string | undefined;
  return {
    async authorize(request) {
      const needsBody = auth.type === 'custom' && Object.keys(auth.body ?? {}).length > 0;
      const refused = stale;
      const holder = { owner: owner as IntegrationName, auth, baseUrl: request.url, stale: refused };
      const got = await withCredentials(ports, holder, opened(request, needsBody));
      if (got.kind === 'failed') return { kind: 'failed', message: got.message };
      const { url, pathQuery } = toWire({ ...got.request, headers: {} });
      const body = needsBody && got.request.body !== undefined ? JSON.stringify(got.request.body) : request.body;
      const plain = { ...request, url, headers: got.request.headers, ...(body !== undefined && { body }) };
      const { headers } = got.sign?.({ ...plain, method: request.method as 'GET', pathQuery }) ?? plain;
      const authorized = { ...plain, headers };
      if (got.bearer) {
        newest = got.bearer;
        if (newest.token === refused?.token) renewedInVain = newest.token;
        used.set(authorized, newest);
      }
      return { kind: 'ok', request: authorized };
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

/** A complete request, without credentials or with them. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Adds credentials to requests. */
export interface Authorizer {
  /** The request with its credentials, for one attempt. */
  authorize(request: Outgoing): Promise<
    | { kind: 'ok'; request: Outgoing }
    /** `isAway`: the token address does not answer, so that the credentials may be right. */
    | { kind: 'failed'; message: string; isBlocked?: boolean | undefined; isAway?: boolean | undefined }
  >;
  /** Reports that the credentials of a request from `authorize` were refused; true if asking again may return new ones. */
  refused(request: Outgoing): Promise<boolean>;
}
