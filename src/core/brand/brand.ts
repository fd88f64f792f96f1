import { InnboundError } from '../../errors.ts';
import { shortHash } from '../../kit/short-hash.ts';
import type { EntityType, IntegrationName } from '../../terms.ts';
import { profilesDestination } from '../deliver/profiles.ts';
import type { Bodies, DocumentKind } from '../documents/kinds.ts';
import type { Guard } from '../reconcile/accidents/guard.ts';
import type { ErasurePort } from '../reconcile/erasure-port.ts';
import { compilePlan, compileShapes, type Plan, type Shapes, type Spellings } from './compile.ts';

export interface Versioned<Kind extends DocumentKind> {
  readonly name: string;
  readonly version: number;
  readonly body: Bodies[Kind];
}

/** One integration with everything that its documents say, compiled: for pull, push, streams, sandbox, previews, replays and the store. */
export interface Brand extends Plan {
  readonly integration: IntegrationName;
  readonly integrationVersion: number;
  readonly connectorVersion: number;
  readonly body: Bodies['integration'];
  readonly connector: Versioned<'connector'>;
  /** Those of the workspace, and their hash: rows that were read under others are read again. */
  readonly spellings: Spellings | undefined;
  readonly spellingsHash: number | undefined;
  /** Destinations by the types they receive. */
  readonly destinations: Readonly<Record<EntityType, readonly string[]>>;
  /** Keeps erased guests from coming back. */
  readonly erasure?: ErasurePort | undefined;
  /** Holds back the partner's accidents; absent with `guard: off`. */
  readonly guard?: Guard | undefined;
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

interface BrandParts {
  readonly source: Versioned<'integration'>;
  readonly connector: Versioned<'connector'>;
  readonly destinations: ReadonlyMap<string, Versioned<'destination'>>;
  readonly shapes: SharedShapes;
  readonly erasure: ErasurePort | undefined;
  /** The same integration before a change of documents: what was compiled is reused if it still holds. */
  readonly before: LazyBrand | undefined;
}

/** Compiles its path on first use. */
export class LazyBrand implements Brand {
  readonly source: Versioned<'integration'>;
  readonly integration: IntegrationName;
  readonly integrationVersion: number;
  readonly connectorVersion: number;
  readonly body: Bodies['integration'];
  readonly idPrefix: string | undefined;
  readonly connector: Versioned<'connector'>;
  readonly spellings: Spellings | undefined;
  readonly spellingsHash: number | undefined;
  readonly destinations: Brand['destinations'];
  readonly erasure: ErasurePort | undefined;
  readonly guard: Guard | undefined;
  readonly #shapes: SharedShapes;
  #compiled: ReturnType<typeof compilePlan> | undefined;

  constructor({ source, connector, destinations, shapes, erasure, before }: BrandParts) {
    this.source = source;
    this.integration = source.name as IntegrationName;
    this.integrationVersion = source.version;
    this.connectorVersion = connector.version;
    this.body = source.body;
    this.idPrefix = source.body.id_prefix;
    this.connector = connector;
    this.#shapes = shapes;
    this.spellings = shapes.spellings;
    this.spellingsHash = shapes.spellings && shortHash(JSON.stringify(shapes.spellings));
    this.erasure = erasure;
    // Only a destination changed.
    if (before?.source === source && before.connector === connector && before.spellings === shapes.spellings) {
      this.#compiled = before.#compiled;
    }
    const receiving = (type: EntityType) =>
      source.body.deliver.filter((destination) => destinations.get(destination)?.body.receives.includes(type));
    this.destinations = {
      // Guest profiles are assembled from reservations, if a destination receives guests.
      reservation: [...receiving('reservation'), ...(receiving('guest').length > 0 ? [profilesDestination] : [])],
      guest: receiving('guest'),
    };
    const { guard: limits } = source.body;
    this.guard = limits === 'off' ? undefined : { limits, memory: memoryOf(before, connector) };
  }

  get compiled(): ReturnType<typeof compilePlan> {
    const { body, connector } = this;
    this.#compiled ??= compilePlan(connector.body, body, this.#shapes.of(connector, body.timezone));
    return this.#compiled;
  }

  get #path(): Plan {
    const { compiled } = this;
    if (compiled.kind === 'ok') return compiled.plan;
    throw new InnboundError('documents.invalid', `The integration ${this.integration} cannot be compiled.`);
  }

  get shapers(): Plan['shapers'] {
    return this.#path.shapers;
  }

  get scopes(): Plan['scopes'] {
    return this.#path.scopes;
  }

  get rules(): Plan['rules'] {
    return this.#path.rules;
  }

  get region(): Plan['region'] {
    return this.#path.region;
  }

  get partialRows(): Plan['partialRows'] {
    return this.#path.partialRows;
  }

  get lagMs(): Plan['lagMs'] {
    return this.#path.lagMs;
  }
}

/** What was normal in one system says nothing about another. */
function memoryOf(before: LazyBrand | undefined, { name }: Versioned<'connector'>): Guard['memory'] {
  const known = before?.connector.name === name ? before.guard?.memory : undefined;
  return known ?? new Map();
}

/** `get` compiles on first use. */
export class Brands extends Map<string, LazyBrand> {
  readonly #broken: Broken[];

  constructor(broken: Broken[]) {
    super();
    this.#broken = broken;
  }

  uncompiled(name: string): LazyBrand | undefined {
    return super.get(name);
  }

  /** An integration that does not compile is removed. */
  override get(name: string): LazyBrand | undefined {
    const known = super.get(name);
    if (known?.compiled.kind !== 'invalid') return known;
    const [problem] = known.compiled.problems;
    this.delete(name);
    this.#broken.push({ document: `integration ${name}`, message: `${problem?.path}: ${problem?.message}` });
    return undefined;
  }
}
