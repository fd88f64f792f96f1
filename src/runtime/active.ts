import { hash } from 'node:crypto';
import { profilesDestination } from '../deliver/profiles.ts';
import type { CheckFinding, DocumentCheck } from '../documents/check.ts';
import { type Bodies, type DocumentKind, schemas } from '../documents/kinds.ts';
import { InnboundError } from '../errors.ts';
import type { PushSettings } from '../intake/push/ports.ts';
import { compilePath, compileShapes, connectorProblems, type Path, type Shapes } from '../pipeline.ts';
import type { DocumentVersion, StoredDocument } from '../store/documents/documents.ts';
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

export interface Broken {
  readonly document: string;
  readonly message: string;
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

/** Mappings, compiled once per connector and time zone. */
class SharedShapes {
  readonly #byConnector = new Map<Versioned<'connector'>, Map<string, Shapes>>();

  constructor(before: SharedShapes | undefined, connectors: ReadonlyMap<string, Versioned<'connector'>>) {
    for (const connector of connectors.values()) {
      this.#byConnector.set(
        connector,
        before === undefined ? new Map() : (before.#byConnector.get(connector) ?? new Map()),
      );
    }
  }

  of(connector: Versioned<'connector'>, timezone: string): Shapes {
    const zones = this.#byConnector.get(connector);
    const shapes = zones?.get(timezone) ?? compileShapes(connector.body, timezone);
    zones?.set(timezone, shapes);
    return shapes;
  }
}

class LazyIntegration implements ActiveIntegration {
  readonly source: Versioned<'integration'>;
  readonly connector: Versioned<'connector'>;
  readonly target: ApplyTarget;
  #compiled: ReturnType<typeof compilePath> | undefined;
  #pushSettings: PushSettings | undefined;
  readonly #shapes: SharedShapes;

  constructor(
    source: Versioned<'integration'>,
    connector: Versioned<'connector'>,
    destinations: ReadonlyMap<string, Versioned<'destination'>>,
    shapes: SharedShapes,
    erasure: ErasurePort | undefined,
  ) {
    this.source = source;
    this.connector = connector;
    this.#shapes = shapes;
    const receiving = (type: EntityType) =>
      source.body.deliver.filter((destination) => destinations.get(destination)?.body.receives.includes(type));
    this.target = {
      integration: source.name as IntegrationName,
      connectorVersion: connector.version,
      integrationVersion: source.version,
      destinations: {
        // Guest profiles are assembled from reservations, if a destination receives guests.
        reservation: [...receiving('reservation'), ...(receiving('guest').length > 0 ? [profilesDestination] : [])],
        guest: receiving('guest'),
      },
      ...(erasure && { erasure }),
    };
  }

  get name(): IntegrationName {
    return this.source.name as IntegrationName;
  }

  get version(): number {
    return this.source.version;
  }

  get body(): Bodies['integration'] {
    return this.source.body;
  }

  get pushSettings(): PushSettings {
    this.#pushSettings ??= pushSettings(this.body, this.connector.body);
    return this.#pushSettings;
  }

  get compiled(): ReturnType<typeof compilePath> {
    const { body, connector } = this;
    this.#compiled ??= compilePath(connector.body, body, this.#shapes.of(connector, body.timezone));
    return this.#compiled;
  }

  get path(): Path {
    const { compiled } = this;
    if (compiled.kind === 'ok') return compiled.path;
    throw new InnboundError('documents.invalid', `The integration ${this.name} cannot be compiled.`);
  }
}

class Integrations extends Map<string, LazyIntegration> {
  readonly #broken: Broken[];

  constructor(broken: Broken[]) {
    super();
    this.#broken = broken;
  }

  uncompiled(name: string): LazyIntegration | undefined {
    return super.get(name);
  }

  /** An integration that does not compile is removed. */
  override get(name: string): LazyIntegration | undefined {
    const found = super.get(name);
    if (found?.compiled.kind !== 'invalid') return found;
    const [problem] = found.compiled.problems;
    this.delete(name);
    this.#broken.push({ document: `integration ${name}`, message: `${problem?.path}: ${problem?.message}` });
    return undefined;
  }
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

/** Finds the mistakes in mappings and rules that only compiling reveals. For `validate` and `apply`. */
export const compileCheck: DocumentCheck = ({ connectors, integrations, destinations }) => {
  const used = new Set<string>();
  const shared = new Map<string, Shapes>();
  const shapesOf = (name: string, body: Bodies['connector'], timezone: string): Shapes => {
    const key = `${name} ${timezone}`;
    const shapes = shared.get(key) ?? compileShapes(body, timezone);
    shared.set(key, shapes);
    return shapes;
  };
  const findings: CheckFinding[] = [...integrations.values()].flatMap(({ name, body }) => {
    // Rules are checked even if the connector is missing.
    const connector = connectors.get(body.connector) ?? { name: '', body: noConnector };
    const compiled = compilePath(connector.body, body, shapesOf(connector.name, connector.body, body.timezone));
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
