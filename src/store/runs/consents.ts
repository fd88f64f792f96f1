import { type Keyring, open, seal } from '../../kit/crypto.ts';
import type { PendingConsent, TokenStore } from '../../outbound/auth/token-store.ts';
import type { Pool } from '../db/pool.ts';
import { contextOf, keepOnce, takeOnce } from '../operate/one-time.ts';

/** Authorizations that a person has begun at a partner, until the partner redirects back. */
export function openConsents(pool: Pool, keyring: Keyring): Pick<TokenStore, 'saveConsent' | 'takeConsent'> {
  const nameOf = (state: string) => `consent ${state}`;
  return {
    async saveConsent({ state, lifetimeMs, ...kept }) {
      const name = nameOf(state);
      await keepOnce(pool, name, seal(keyring, JSON.stringify(kept), contextOf(name)), lifetimeMs);
    },
    async takeConsent(state) {
      const sealed = await takeOnce(pool, nameOf(state));
      const opened = sealed && open(keyring, sealed, contextOf(nameOf(state)));
      if (opened?.kind !== 'ok') return undefined;
      const kept = JSON.parse(opened.plaintext.toString('utf8')) as Omit<PendingConsent, 'state' | 'lifetimeMs'>;
      return { ...kept, state };
    },
  };
}
