import { profilesDestination } from '../deliver/profiles.ts';
import type { CheckFinding, DocumentCheck } from '../documents/check.ts';
import { type Bodies, type DocumentKind, schemas } from '../documents/kinds.ts';
import type { PushSettings } from '../intake/push/ports.ts';
import { compilePath, connectorProblems, type Path } from '../pipeline.ts';
import type { StoredDocument } from '../store/documents/documents.ts';
import type { ErasurePort } from '../store/erasure/erased.ts';
import type { ApplyTarget } from '../store/records/apply.ts';
import type { EntityType, IntegrationName, Json } from '../terms.ts';
import { compileCondition } from '../transform/condition.ts';

import { pushSettings } from './push-settings.ts';

/** The documents in force, compiled: each integration with its connector, its pipeline and its destinations. */

export interface Versioned<Kind extends DocumentKind> {
  readonly name: string;
  readonly version: number;
  readonly body: Bodies[Kind];
}

export interface ActiveIntegration {
  readonly name: IntegrationName;
  readonly version: number;
  readonly body: Bodies['integration'];
  readonly connector: Versioned<'connector'>;
  readonly path: Path;
  readonly pushSettings: PushSettings;
  /** What the store needs to apply changes of this brand. */
  readonly target: ApplyTarget;
}

export interface Active {
  readonly settings: Bodies['workspace'];
  readonly integrations: ReadonlyMap<string, ActiveIntegration>;
  readonly destinations: ReadonlyMap<string, Versioned<'destination'>>;
  /** Differs if and only if a document differs. */
  readonly stamp: string;
  /** Removes erased guests from incoming records. */
  readonly erasure?: ErasurePort;
  /** Documents in force that this version cannot use, and why. Only their brands stop. */
  readonly broken: readonly { readonly document: string; readonly message: string }[];
}

export function activate(
  documents: readonly StoredDocument[],
  before?: Active,
  erasure: ErasurePort | undefined = before?.erasure,
): Active {
  const stamp = documents.map(({ kind, name, version }) => `${kind}:${name}:${version}`).join(' ');
  if (before?.stamp === stamp) return before;
  const broken: { document: string; message: string }[] = [];
  const ofKind = <Kind extends DocumentKind>(kind: Kind): Map<string, Versioned<Kind>> => {
    const found = new Map<string, Versioned<Kind>>();
    for (const { kind: its, name, version, body } of documents) {
      if (its !== kind) continue;
      const parsed = schemas[kind].safeParse(body);
      if (parsed.success) found.set(name, { name, version, body: parsed.data });
      else
        broken.push({
          document: `${kind} ${name}`,
          message: parsed.error.issues[0]?.message ?? 'does not match the schema',
        });
    }
    return found;
  };
  const connectors = ofKind('connector');
  const destinations = ofKind('destination');
  const integrations = new Map<string, ActiveIntegration>();
  for (const integration of ofKind('integration').values()) {
    const { name, version, body } = integration;
    const connector = connectors.get(body.connector);
    const compiled = connector && compilePath(connector.body, body);
    if (!connector || compiled?.kind !== 'ok') {
      const problem = compiled?.kind === 'invalid' ? compiled.problems[0] : undefined;
      broken.push({
        document: `integration ${name}`,
        message: problem ? `${problem.path}: ${problem.message}` : `its connector ${body.connector} is not in force`,
      });
      continue;
    }
    const receiving = (type: EntityType) =>
      body.deliver.filter((destination) => destinations.get(destination)?.body.receives.includes(type));
    integrations.set(name, {
      name: name as IntegrationName,
      version,
      body,
      connector,
      path: compiled.path,
      pushSettings: pushSettings(body, connector.body),
      target: {
        integration: name as IntegrationName,
        connectorVersion: connector.version,
        integrationVersion: version,
        destinations: {
          // Guest profiles are assembled from reservations, if a destination receives guests.
          reservation: [...receiving('reservation'), ...(receiving('guest').length > 0 ? [profilesDestination] : [])],
          guest: receiving('guest'),
        },
        ...(erasure && { erasure }),
      },
    });
  }
  const settings = [...ofKind('workspace').values()][0]?.body ?? schemas.workspace.parse({});
  return { settings, integrations, destinations, stamp, broken, ...(erasure && { erasure }) };
}

/** The documents that an active integration was compiled from, to compile it again in another thread. */
export function documentsOf({ name, version, body, connector }: ActiveIntegration): [StoredDocument, StoredDocument] {
  const plain = (body: unknown) => body as Json;
  return [
    { kind: 'connector', name: connector.name, version: connector.version, body: plain(connector.body), hash: '' },
    { kind: 'integration', name, version, body: plain(body), hash: '' },
  ];
}

const noConnector = schemas.connector.parse({ connector: 'none' });

/** Finds the mistakes in mappings and rules that only compiling shows. For `validate` and `apply`. */
export const compileCheck: DocumentCheck = ({ connectors, integrations, destinations }) => {
  const used = new Set<string>();
  const findings: CheckFinding[] = [...integrations.values()].flatMap(({ name, body }) => {
    // Rules are checked even if the connector is missing.
    const connector = connectors.get(body.connector) ?? { name: '', body: noConnector };
    const compiled = compilePath(connector.body, body);
    const fresh = !used.has(connector.name);
    used.add(connector.name);
    if (compiled.kind === 'ok') return [];
    return compiled.problems
      .filter(({ document }) => document === 'integration' || fresh)
      .map(({ document, ...problem }) => ({
        document:
          document === 'connector'
            ? { kind: 'connector' as const, name: connector.name }
            : { kind: 'integration' as const, name },
        ...problem,
      }));
  });
  const unused = [...connectors.values()].filter(({ name }) => !used.has(name));
  for (const { name, body } of unused) {
    const compiled = connectorProblems(body);
    findings.push(...compiled.map((problem) => ({ document: { kind: 'connector' as const, name }, ...problem })));
  }
  for (const { name, body } of destinations.values()) {
    const problems = body.receives.flatMap((type) => {
      const compiled = body.filter === undefined ? undefined : compileCondition(body.filter, type);
      return compiled?.kind === 'invalid' ? compiled.problems : [];
    });
    const [first] = problems;
    if (first)
      findings.push({
        document: { kind: 'destination', name },
        path: 'filter',
        message: first.message,
        offset: first.offset,
      });
  }
  return findings;
};
