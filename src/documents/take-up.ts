/**
 * Decides which files of a workspace a starting service applies. Several nodes, each with its own files, share the documents in
 * force, and the console changes them through any node. So a file that this workspace applied before and that did not change since
 * is not applied, even if another version has replaced it. Only changed files are applied.
 */

/** The hashes of a workspace's files at their last apply, by `kind name`. */
export type LastApplied = Readonly<Record<string, string>>;

export interface FileOffered {
  /** `kind name`. */
  readonly key: string;
  readonly hash: string;
  /** Equal to the version in force. */
  readonly inForce: boolean;
  /** It was in force at some time. */
  readonly past: boolean;
}

export interface TakeUp {
  /** Applied. */
  readonly apply: readonly string[];
  /** Removed, because their files were deleted here. */
  readonly remove: readonly string[];
  /** Not applied: a newer version, or none, is in force. */
  readonly behind: readonly string[];
}

/**
 * Content that was never in force is new. Content that was in force before is new only if this workspace has
 * applied something else since: somebody restored it here. `lastApplied` is undefined if nothing is known of the workspace.
 */
export function takeUp(
  files: readonly FileOffered[],
  inForce: readonly string[],
  lastApplied: LastApplied | undefined,
): TakeUp {
  const differing = files.filter((file) => !file.inForce);
  const isNew = ({ key, hash, past }: FileOffered): boolean =>
    !past || (lastApplied !== undefined && lastApplied[key] !== hash);
  const offered = new Set(files.map(({ key }) => key));
  return {
    apply: differing.filter(isNew).map(({ key }) => key),
    behind: differing.filter((file) => !isNew(file)).map(({ key }) => key),
    remove: inForce.filter((key) => !offered.has(key) && lastApplied?.[key] !== undefined),
  };
}
