/**
 * Decides which files of a workspace a starting service applies. Several nodes, each with its own files, share the documents in
 * force, and the console changes them through any node. So a file that this workspace applied before and that did not change since
 * is not applied, even if another version has replaced it. Only changed files are applied.
 */

/** The hashes of a workspace's files at their last apply: of the contents by `kind name`, of the texts by `textKey`. */
export type LastApplied = Readonly<Record<string, string>>;

export const textKey = (key: string): string => `text ${key}`;

export interface FileOffered {
  /** `kind name`. */
  readonly key: string;
  /** Of the content, with the defaults of this version of Innbound. */
  readonly hash: string;
  /** Of the text, with its comments. */
  readonly textHash: string;
  /** Equal to the version in force, apart from comments and layout. */
  readonly inForce: boolean;
  /** The same content was in force at some time, or the same text, which other defaults made another content. */
  readonly wasInForce: boolean;
  /** No version has this text. */
  readonly isNewText: boolean;
}

/**
 * Content that was never in force is new. Content that was in force before is new only if this workspace has
 * applied something else since: somebody restored it here. Content in force is applied again if its file got other comments here.
 * `lastApplied` is undefined if nothing is known of the workspace.
 */
export function takeUp(
  files: readonly FileOffered[],
  inForce: readonly string[],
  lastApplied: LastApplied | undefined,
) {
  const isNew = (file: FileOffered): boolean =>
    file.inForce ? hasOtherComments(file, lastApplied) : !file.wasInForce || isRestored(file, lastApplied);
  const offered = new Set(files.map(({ key }) => key));
  return {
    apply: files.filter(isNew).map(({ key }) => key),
    /** Not applied: a newer version, or none, is in force. */
    behind: files.filter((file) => !file.inForce && !isNew(file)).map(({ key }) => key),
    /** Their files were deleted here. */
    remove: inForce.filter((key) => !offered.has(key) && lastApplied?.[key] !== undefined),
  };
}

function hasOtherComments({ key, textHash, isNewText }: FileOffered, lastApplied: LastApplied = {}): boolean {
  const before = lastApplied[textKey(key)];
  return before === undefined ? isNewText : before !== textHash;
}

function isRestored({ key, hash, textHash }: FileOffered, lastApplied: LastApplied | undefined): boolean {
  return lastApplied !== undefined && lastApplied[key] !== hash && lastApplied[textKey(key)] !== textHash;
}
