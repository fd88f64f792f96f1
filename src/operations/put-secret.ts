import { sealSecret } from '../documents/keyring.ts';
import { probeAgain } from '../runtime/probe-again.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { documentsWithSecret } from '../store/documents/documents.ts';
import { putSecret as storeSecret } from '../store/documents/secrets.ts';

/** Stores a secret or replaces it; what failed with the old one is tried again. */
export async function putSecret(runtime: Runtime, name: string, value: string): Promise<void> {
  const { pool, keyring } = runtime;
  await storeSecret(pool, name, sealSecret(keyring, name, value));
  await probeAgain(runtime, await documentsWithSecret(pool, name));
}
