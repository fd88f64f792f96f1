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
  /** `content`: it was in force at some time. `text`: the same text was, but an earlier Innbound with other defaults read it. */
  readonly past: 'content' | 'text' | undefined;
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
    file.inForce ? hasOtherComments(file, lastApplied) : file.past === undefined || isRestored(file, lastApplied);
  const offered = new Set(files.map(({ key }) => key));
  return {
    apply: files.filter(isNew).map(({ key }) => key),
    /** Not applied: a newer version, or none, is in force. */
    behind: files.filter((file) => !file.inForce && !isNew(file)).map(({ key }) => key),
    /** Their files were deleted here. */
    remove: inForce.filter((key) => !offered.has(key) && lastApplied?.[key] !== undefined),
  };
}

/** The records of an earlier Innbound have no texts. */
const lastText = ({ key }: FileOffered, lastApplied: LastApplied = {}): string | undefined => lastApplied[textKey(key)];

function hasOtherComments(file: FileOffered, lastApplied: LastApplied | undefined): boolean {
  const before = lastText(file, lastApplied);
  return before === undefined ? file.isNewText : before !== file.textHash;
}

function isRestored(file: FileOffered, lastApplied: LastApplied | undefined): boolean {
  if (lastApplied === undefined || lastApplied[file.key] === file.hash) return false;
  const before = lastText(file, lastApplied);
  if (before !== undefined) return before !== file.textHash;
  return file.past === 'content' || lastApplied[file.key] === undefined;
}
