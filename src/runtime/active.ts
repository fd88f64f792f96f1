import { hash } from 'node:crypto';
import { type Bodies, type DocumentKind, schemas } from '../documents/kinds.ts';
import type { DocumentVersion, StoredDocument } from '../store/documents/documents.ts';
import type { ErasurePort } from '../store/erasure/erased.ts';
import type { Json } from '../terms.ts';
import {
  type ActiveIntegration,
  type Broken,
  Integrations,
  LazyIntegration,
  SharedShapes,
  type Versioned,
} from './active-integration.ts';

/** The documents in force, compiled: each integration with its connector, its pipeline and its destinations. */

export interface Active {
  readonly settings: Bodies['workspace'];
  /** `get` compiles the integration on first use; iterating does not. */
  readonly integrations: ReadonlyMap<string, ActiveIntegration>;
  /** The integrations as documents, for callers that need no compiled path. */
  readonly documents: ReadonlyMap<string, Versioned<'integration'>>;
  readonly destinations: ReadonlyMap<string, Versioned<'destination'>>;
  /** Differs if and only if a document differs. */
  readonly stamp: string;
  /** The version of each document in force, by kind and name, broken ones included. */
  readonly versions: ReadonlyMap<string, number>;
  /** Removes erased guests from incoming records. */
  readonly erasure?: ErasurePort;
  /** Documents in force that this version cannot use, and why. Only their brands stop. */
  readonly broken: readonly Broken[];
}

/**
 * Compiling an integration takes a millisecond and 30 kB. Up to this many are compiled when they come into force, so that a
 * broken one is reported then. Beyond that, each is compiled on first use: `apply` has already compiled all of them once.
 */
const compiledAtOnce = 1_000;

/**
 * Puts documents in force. Documents that `before` has in the same version are reused, already parsed and compiled, and need no
 * body.
 */
export function activate(
  documents: readonly (DocumentVersion | StoredDocument)[],
  before?: Active,
  erasure: ErasurePort | undefined = before?.erasure,
): Active {
  const versions = new Map(documents.map(({ kind, name, version }) => [`${kind} ${name}`, version]));
  const digest = hash('sha256', documents.map(({ kind, name, version }) => `${kind}:${name}:${version}`).join(' '));
  if (before?.stamp === digest) return before;
  const broken: Broken[] = [];
  const isSame = (kind: DocumentKind, name: string) =>
    before?.versions.get(`${kind} ${name}`) === versions.get(`${kind} ${name}`);
  const ofKind = <Kind extends DocumentKind>(
    kind: Kind,
    known: (name: string) => Versioned<Kind> | undefined,
  ): Map<string, Versioned<Kind>> => {
    const found = new Map<string, Versioned<Kind>>();
    for (const document of documents) {
      const { kind: its, name, version } = document;
      if (its !== kind) continue;
      const same = isSame(kind, name) ? known(name) : undefined;
      if (same) {
        found.set(name, same);
        continue;
      }
      const parsed = 'body' in document ? schemas[kind].safeParse(document.body) : undefined;
      if (parsed?.success) found.set(name, { name, version, body: parsed.data as Bodies[Kind] });
      else {
        const wasBroken = before?.broken.find((one) => one.document === `${kind} ${name}`);
        const message = parsed?.error?.issues[0]?.message ?? wasBroken?.message ?? 'does not match the schema';
        broken.push({ document: `${kind} ${name}`, message });
      }
    }
    return found;
  };
  const earlier = before as Activated | undefined;
  const connectors = ofKind('connector', (name) => earlier?.connectors.get(name));
  const destinations = ofKind('destination', (name) => earlier?.destinations.get(name));
  const areDestinationsSame =
    earlier?.destinations.size === destinations.size &&
    [...destinations].every(([name, one]) => earlier.destinations.get(name) === one);
  const shapes = new SharedShapes(earlier?.shapes, connectors);
  const parsed = ofKind('integration', (name) => earlier?.documents.get(name));
  const integrations = new Integrations(broken);
  for (const integration of parsed.values()) {
    const { name, body } = integration;
    const connector = connectors.get(body.connector);
    if (!connector) {
      broken.push({ document: `integration ${name}`, message: `its connector ${body.connector} is not in force` });
      continue;
    }
    const same = earlier?.integrations.uncompiled(name);
    const isUnchanged = areDestinationsSame && same?.source === integration && same.connector === connector;
    integrations.set(
      name,
      isUnchanged ? same : new LazyIntegration(integration, connector, destinations, shapes, erasure),
    );
  }
  if (integrations.size <= compiledAtOnce) for (const name of integrations.keys()) integrations.get(name);
  const workspace = ofKind('workspace', (name) => earlier?.workspaces.get(name));
  const active: Activated = {
    settings: [...workspace.values()][0]?.body ?? schemas.workspace.parse({}),
    integrations,
    documents: parsed,
    destinations,
    stamp: digest,
    versions,
    broken,
    connectors,
    workspaces: workspace,
    shapes,
    ...(erasure && { erasure }),
  };
  return active;
}

/** The parts that the next set of documents reuses. */
interface Activated extends Active {
  readonly integrations: Integrations;
  readonly connectors: ReadonlyMap<string, Versioned<'connector'>>;
  readonly workspaces: ReadonlyMap<string, Versioned<'workspace'>>;
  readonly shapes: SharedShapes;
}

/** The documents that an active integration was compiled from, to compile it again in another thread. */
export function documentsOf({ name, version, body, connector }: ActiveIntegration): [StoredDocument, StoredDocument] {
  const plain = (body: unknown) => body as Json;
  return [
    { kind: 'connector', name: connector.name, version: connector.version, body: plain(connector.body), hash: '' },
    { kind: 'integration', name, version, body: plain(body), hash: '' },
  ];
}
