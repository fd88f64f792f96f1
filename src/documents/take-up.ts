/**
 * Which of a workspace's files a starting service puts in force. Several nodes, each with files of its own, share what is in
 * force, and the console changes it through any of them: so a file that this workspace has given before and that nobody touched
 * since says nothing new, whatever has taken its place. Only what is new in the files counts.
 */

/** What the files of one workspace gave last: `kind name` to hash. */
export type Given = Readonly<Record<string, string>>;

export interface FileOffered {
  /** `kind name`. */
  readonly key: string;
  readonly hash: string;
  /** Equal to what is in force. */
  readonly inForce: boolean;
  /** It was in force at some time. */
  readonly past: boolean;
}

export interface TakeUp {
  /** To be put in force. */
  readonly apply: readonly string[];
  /** To be taken out of force: their files were taken away here. */
  readonly remove: readonly string[];
  /** Left as files: something newer, or nothing, is in force in their place. */
  readonly behind: readonly string[];
}

/**
 * A content that was never in force is new, wherever it comes from. One that was is new only where this workspace is known to
 * have given something else since: somebody went back to it here. `given` is undefined where nothing is known of the workspace.
 */
export function takeUp(files: readonly FileOffered[], inForce: readonly string[], given: Given | undefined): TakeUp {
  const differing = files.filter((file) => !file.inForce);
  const isNew = ({ key, hash, past }: FileOffered): boolean => !past || (given !== undefined && given[key] !== hash);
  const offered = new Set(files.map(({ key }) => key));
  return {
    apply: differing.filter(isNew).map(({ key }) => key),
    behind: differing.filter((file) => !isNew(file)).map(({ key }) => key),
    remove: inForce.filter((key) => !offered.has(key) && given?.[key] !== undefined),
  };
}
