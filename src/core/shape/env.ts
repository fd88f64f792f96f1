import { parsePath } from '../json-path/path.ts';
import type { FieldMap, MappingProblem } from './config.ts';
import type { MappingPath, PathUse, Read } from './scope.ts';
import type { Slot } from './values.ts';

/** Compiles one field. Passed in the environment, because sources contain fields and modules must not import in a cycle. */
type CompileField = (map: FieldMap | undefined, slot: Slot, at: string, env: Env) => Read;

interface EnvOptions {
  /** Path of the mapping in the document: map, push.map or pull.single.map. */
  readonly mapAt: string;
  readonly flat: boolean;
  readonly timezone: string;
  readonly dates: readonly string[];
  readonly field: CompileField;
}

/** The context of compiling one mapping. Collects its mistakes. */
export class Env {
  readonly problems: MappingProblem[] = [];
  readonly options: EnvOptions;
  /** Set while compiling: whether any path reads $body, $parent, $key or $parent.$key. */
  usesBody = false;
  usesParent = false;
  usesKey = false;
  usesParentKey = false;
  /** The paths of the tables that the mapping looks rows up in. */
  readonly tables = new Set<string>();
  /** Fields whose wrong value makes the record a dead letter: currency, guests.nationality. */
  readonly strict = new Set<string>();
  /** Every path that the document states. */
  readonly uses: PathUse[] = [];
  /** True while compiling a field that the document does not mention: its path is our default. */
  implied = false;
  /** Reads the record's currency, for amounts in its minor unit. */
  currency: Read = () => undefined;

  constructor(options: EnvOptions) {
    this.options = options;
  }

  asImplied<Of>(compile: () => Of): Of {
    const before = this.implied;
    this.implied = true;
    const compiled = compile();
    this.implied = before;
    return compiled;
  }

  problem(path: string, message: string, offset?: number): void {
    this.problems.push(offset === undefined ? { path, message } : { path, message, offset });
  }

  /** Parses a path that is a text of the document. */
  path(text: string, at: string): MappingPath | undefined {
    return this.#parsed(text, at, (message, offset) => this.problem(at, message, offset));
  }

  /** Parses a path that is a key of the document: positions exist for values only, so the message names the character. */
  pathOfKey(text: string, at: string): MappingPath | undefined {
    return this.#parsed(text, at, (message, offset) =>
      this.problem(at, `in ${JSON.stringify(text)}, character ${offset + 1}: ${message}`),
    );
  }

  #parsed(text: string, at: string, fail: (message: string, offset: number) => void): MappingPath | undefined {
    const { flat } = this.options;
    const parsed = parsePath(text);
    if (parsed.kind === 'bad') {
      fail(parsed.message, parsed.offset);
      return undefined;
    }
    const { path } = parsed;
    if (path.start === 'body') {
      if (flat) fail('$body cannot be used with flat rows: they may come from several responses', 0);
      this.usesBody = true;
    }
    if (path.start === 'rows' && !flat) fail('$rows can only be used with shape.flat', 0);
    if (path.up > 0) this.usesParent = true;
    if (path.start === 'key' && path.up === 0) this.usesKey = true;
    if (path.start === 'key' && path.up > 0) this.usesParentKey = true;
    if (this.implied) return path;
    const use = { at, text };
    this.uses.push(use);
    return { ...path, use };
  }
}

const plainKey = /^[A-Za-z_][\w-]*$/;

/** A path in the connector document; any key is allowed: map.extra["loyalty.level"]. */
export function documentPath(base: string, key: string): string {
  return plainKey.test(key) ? `${base}.${key}` : `${base}[${JSON.stringify(key)}]`;
}
