import type { AuthDocument } from '../documents/auth.ts';
import { outgoingCredentials } from '../intake/pull/auth/outgoing.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { openTokenStore } from '../store/runs/partner-tokens.ts';
import type { Json } from '../terms.ts';

/** Destinations authenticate with the methods of the pull side. `auth` has been validated by the documents' schema. */
export function authorizer(runtime: Runtime, owner: string, auth: Json) {
  const tokens = openTokenStore(runtime.pool, runtime.keyring, runtime.spool);
  const ports = { tokens, clock: runtime.clock, http: runtime.http };
  return outgoingCredentials(ports, owner, auth as unknown as AuthDocument);
}
