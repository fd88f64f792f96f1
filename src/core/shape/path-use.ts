import type { Path } from '../json-path/path.ts';

/** A path of the mapping. */
export interface MappingPath extends Path {
  /** Only while tracing, and only for a path that the document states. */
  readonly use?: PathUse | undefined;
}

/** What a path found in the records read so far. Neither is set for a path that only passes through empty lists. */
export interface PathUse {
  /** The path in the document, and its text. */
  readonly at: string;
  readonly text: string;
  found: boolean;
  missed: boolean;
}

export function markUse(use: PathUse | undefined, isPresent: boolean): void {
  if (use === undefined) return;
  if (isPresent) use.found = true;
  else use.missed = true;
}
