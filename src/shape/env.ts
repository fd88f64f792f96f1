import type { MappingProblem, NumberFormat } from './config.ts';
import { type Path, parsePath } from './path.ts';
import type { Read } from './scope.ts';
import type { CompileField } from './slot.ts';

interface EnvOptions {
  /** Where the mapping stands in the document: map, or push.map. */
  readonly mapAt: string;
  readonly traced: boolean;
  readonly flat: boolean;
  readonly timezone: string;
  readonly dates: readonly string[];
  readonly numbers: NumberFormat | undefined;
  readonly field: CompileField;
}

/** What compiling a mapping needs to know, and where it puts the mistakes it finds. */
export class Env {
  readonly problems: MappingProblem[] = [];
  readonly options: EnvOptions;
  readonly traced: boolean;
  /** Set while compiling: does any path look into the response, around an item, or at its place? */
  usesBody = false;
  usesParent = false;
  usesKey = false;
  /** The record's currency, for amounts in its minor unit. */
  currency: Read = () => undefined;

  constructor(options: EnvOptions) {
    this.options = options;
    this.traced = options.traced;
  }

  problem(path: string, message: string, offset?: number): void {
    this.problems.push(offset === undefined ? { path, message } : { path, message, offset });
  }

  /** A path that is the text at a place of the document. */
  path(text: string, at: string): Path | undefined {
    return this.#parsed(text, (message, offset) => this.problem(at, message, offset));
  }

  /** A path that is a key of the document: no character inside the value at its place can be pointed at. */
  pathOfKey(text: string, at: string): Path | undefined {
    return this.#parsed(text, (message, offset) =>
      this.problem(at, `in ${JSON.stringify(text)}, character ${offset + 1}: ${message}`),
    );
  }

  #parsed(text: string, fail: (message: string, offset: number) => void): Path | undefined {
    const parsed = parsePath(text);
    if (parsed.kind === 'bad') {
      fail(parsed.message, parsed.offset);
      return undefined;
    }
    const { path } = parsed;
    const { flat } = this.options;
    if (path.start === 'body') {
      if (flat) fail('$body is not there for flat rows: they may come from several responses', 0);
      this.usesBody = true;
    }
    if (path.start === 'rows' && !flat) fail('$rows is only there under shape.flat', 0);
    if (path.up > 0) this.usesParent = true;
    if (path.start === 'key') this.usesKey = true;
    return path;
  }
}
