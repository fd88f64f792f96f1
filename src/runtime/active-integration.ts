import { profilesDestination } from '../deliver/profiles.ts';
import type { Bodies, DocumentKind } from '../documents/kinds.ts';
import { InnboundError } from '../errors.ts';
import type { PushSettings } from '../intake/push/ports.ts';
import { shortHash } from '../kit/short-hash.ts';
import type { ApplyTarget, ErasurePort, GuardPort } from '../reconcile/apply-target.ts';
import type { EntityType, IntegrationName } from '../terms.ts';
import { compilePath, compileShapes, type Path, type Shapes, type Spellings } from './compile-path.ts';
import { pushSettings } from './push-settings.ts';

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
  /** Those of the workspace. */
  readonly spellings: Spellings | undefined;
  readonly path: Path;
  readonly pushSettings: PushSettings;
  /** What the store needs to apply changes of this brand. */
  readonly target: ApplyTarget;
}

export interface Broken {
  readonly document: string;
  readonly message: string;
}

/** Mappings, compiled once per connector and time zone. */
export class SharedShapes {
  readonly spellings: Spellings | undefined;
  readonly #byConnector = new Map<Versioned<'connector'>, Map<string, Shapes>>();

  constructor(
    before?: SharedShapes,
    connectors: ReadonlyMap<string, Versioned<'connector'>> = new Map(),
    spellings?: Spellings,
  ) {
    const isSame = JSON.stringify(before?.spellings) === JSON.stringify(spellings);
    this.spellings = isSame ? before?.spellings : spellings;
    for (const connector of connectors.values()) {
      const known = before === undefined || !isSame ? undefined : before.#byConnector.get(connector);
      this.#byConnector.set(connector, known ?? new Map());
    }
  }

  of(connector: Versioned<'connector'>, timezone: string): Shapes {
    const zones = this.#byConnector.get(connector);
    const shapes = zones?.get(timezone) ?? compileShapes(connector.body, timezone, this.spellings);
    zones?.set(timezone, shapes);
    return shapes;
  }
}

interface IntegrationParts {
  readonly source: Versioned<'integration'>;
  readonly connector: Versioned<'connector'>;
  readonly destinations: ReadonlyMap<string, Versioned<'destination'>>;
  readonly shapes: SharedShapes;
  readonly erasure: ErasurePort | undefined;
  /** The same integration before a change of documents: what was compiled is reused if it still holds. */
  readonly before: LazyIntegration | undefined;
}

/** Compiles its path on first use. */
export class LazyIntegration implements ActiveIntegration {
  readonly source: Versioned<'integration'>;
  readonly connector: Versioned<'connector'>;
  readonly spellings: Spellings | undefined;
  readonly target: ApplyTarget;
  #compiled: ReturnType<typeof compilePath> | undefined;
  #pushSettings: PushSettings | undefined;
  readonly #shapes: SharedShapes;

  constructor({ source, connector, destinations, shapes, erasure, before }: IntegrationParts) {
    this.source = source;
    this.connector = connector;
    this.#shapes = shapes;
    this.spellings = shapes.spellings;
    // Only a destination changed.
    if (before?.source === source && before.connector === connector && before.spellings === shapes.spellings) {
      this.#compiled = before.#compiled;
      this.#pushSettings = before.#pushSettings;
    }
    const receiving = (type: EntityType) =>
      source.body.deliver.filter((destination) => destinations.get(destination)?.body.receives.includes(type));
    const { guard: limits } = source.body;
    const guard = limits === 'off' ? undefined : { limits, memory: memoryOf(before, connector) };
    this.target = {
      integration: source.name as IntegrationName,
      connectorVersion: connector.version,
      integrationVersion: source.version,
      ...(shapes.spellings && { spellings: shortHash(JSON.stringify(shapes.spellings)) }),
      destinations: {
        // Guest profiles are assembled from reservations, if a destination receives guests.
        reservation: [...receiving('reservation'), ...(receiving('guest').length > 0 ? [profilesDestination] : [])],
        guest: receiving('guest'),
      },
      ...(source.body.id_prefix && { idPrefix: source.body.id_prefix }),
      ...(erasure && { erasure }),
      ...(guard && { guard }),
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

/** What was normal in one system says nothing about another. */
function memoryOf(before: LazyIntegration | undefined, { name }: Versioned<'connector'>): GuardPort['memory'] {
  const known = before?.connector.name === name ? before.target.guard?.memory : undefined;
  return known ?? new Map();
}

/** `get` compiles on first use. */
export class Integrations extends Map<string, LazyIntegration> {
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
