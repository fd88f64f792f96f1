import { createHash } from 'node:crypto';
import type { TokenStore } from '../../intake/pull/auth/token-store.ts';
import type { IntegrationName } from '../../terms.ts';
import type { Pool } from '../db/pool.ts';
import type { TokenSeals } from './token-seals.ts';

/** Authorizations that a person has begun at a partner, until the partner redirects back. */
export function openConsents(pool: Pool, seals: TokenSeals): Pick<TokenStore, 'saveConsent' | 'takeConsent'> {
  return {
    async saveConsent({ state, integration, verifier, redirectUri, requestedBy, lifetimeMs }) {
      await pool.query('delete from consents where expires_at < now()');
      await pool.query(
        `insert into consents (state_hash, integration, verifier, redirect_uri, requested_by, expires_at)
         values ($1, $2, $3, $4, $5, now() + $6 * interval '1 ms')`,
        [
          hashOf(state),
          integration,
          verifier === undefined ? null : seals.seal(integration, 'verifier', verifier),
          redirectUri,
          requestedBy,
          lifetimeMs,
        ],
      );
    },

    async takeConsent(state) {
      const { rows } = await pool.query<{
        integration: IntegrationName;
        verifier: Buffer | null;
        redirect_uri: string;
        requested_by: string;
      }>(
        `delete from consents where state_hash = $1 and expires_at > now()
         returning integration, verifier, redirect_uri, requested_by`,
        [hashOf(state)],
      );
      const [row] = rows;
      if (row === undefined) return undefined;
      const { integration, redirect_uri: redirectUri, requested_by: requestedBy } = row;
      const verifier = row.verifier === null ? undefined : seals.open(integration, 'verifier', row.verifier);
      return {
        state,
        integration,
        redirectUri,
        requestedBy,
        lifetimeMs: 0,
        ...(verifier !== undefined && { verifier }),
      };
    },
  };
}

function hashOf(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}
