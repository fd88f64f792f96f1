import type { DestinationServices, DestinationType } from '../../core/deliver/destination.ts';
import { loadDestinationTypes } from '../../core/deliver/destinations.ts';
import type { AuthDocument } from '../../core/documents/auth.ts';
import { ownSettings } from '../../core/documents/destination.ts';
import type { LoadedDocuments } from '../../core/documents/kinds.ts';
import { type Resolve, resolveSecrets, secretFiles } from '../../core/documents/secret-reference.ts';
import type { TokenStore } from '../../core/outbound/ask/ports.ts';
import { outgoingCredentials } from '../../core/outbound/auth/outgoing.ts';
import { systemClock } from '../../kit/clock.ts';
import { closedNetwork, openNetwork } from '../../runtime/network.ts';
import type { Diagnosis } from '../watch/diagnosis.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What `destination prepare NAME --dry-run` finds, for every warehouse of the workspace: login, rights, tables and columns. */
export async function examineWarehouses(
  workspaceDir: string,
  env: Env,
  documents: LoadedDocuments,
): Promise<Diagnosis[]> {
  const types = await loadDestinationTypes();
  // A stored secret is sealed in the database, which doctor only looks at.
  const sources = { env, readFile: secretFiles(workspaceDir, env), secret: async () => undefined };
  const resolve: Resolve = (body) => resolveSecrets(body, sources);
  const { http, allowPrivate } = await openNetwork(documents.workspace.body.network, resolve, {
    workspaceDir,
    env,
  }).catch((error: Error) => closedNetwork(error.message.replace(/\.$/, '')));
  const services: Omit<DestinationServices, 'name'> = {
    workspaceDir,
    allowPrivate,
    node: 'doctor',
    clock: systemClock,
    http,
    authorizer: (auth) =>
      outgoingCredentials({ tokens: forgotten, clock: systemClock, http }, 'doctor', auth as unknown as AuthDocument),
    takeRequest: async () => ({ granted: 1, waitMs: 0 }),
    brandIdsOf: async () => [],
    brandOf: async () => undefined,
  };
  try {
    const found = [...documents.destinations.values()].map(async ({ name, body }): Promise<Diagnosis[]> => {
      const type = types.get(body.type);
      if (type?.writeState === undefined || type.prepare === undefined) return [];
      const resolved = await resolve(ownSettings(body));
      if (resolved.kind === 'ok')
        return [await examineOne(name, type, type.settings.parse(resolved.body), { ...services, name })];
      const next = `Run innbound destination prepare ${name} --dry-run.`;
      return [
        {
          check: 'warehouse',
          state: 'ok',
          message: `${name} was not asked: its credentials are stored, or missing.`,
          next,
        },
      ];
    });
    return (await Promise.all(found)).flat();
  } finally {
    await http.close();
  }
}

async function examineOne(
  name: string,
  type: DestinationType,
  settings: unknown,
  services: DestinationServices,
): Promise<Diagnosis> {
  const { steps = [] } = (await type.prepare?.(settings, services, { dryRun: true })) ?? {};
  const check = 'warehouse';
  const failed = steps.find(({ result }) => result === 'failed');
  const prepare = `innbound destination prepare ${name}`;
  if (failed !== undefined) {
    const message = `${name}, ${failed.what}: ${failed.message}`;
    return { check, state: 'problem', message, next: `${prepare} prints the grants that it needs.` };
  }
  const missing = steps.filter(({ result }) => result === 'would_create').length;
  if (missing === 0)
    return { check, state: 'ok', message: `${name} accepts the login, and has all tables and columns.` };
  const message = `${name} accepts the login; ${missing} of its tables, columns or views are missing.`;
  return { check, state: 'warning', message, next: `The first delivery creates them, or run ${prepare}.` };
}

/** Doctor keeps no token. */
const forgotten: TokenStore = {
  read: async () => ({ generation: 0, interrupted: false }),
  renew: async (_integration, _identity, generation, renewal) => renewal({ generation, interrupted: false }),
  save: async () => {},
  saveConsent: async () => {},
  takeConsent: async () => undefined,
};
