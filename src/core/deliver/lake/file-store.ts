/** A complete file, by its name under the root: date=2026-11-15/changes_….ndjson */
export interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly modifiedAtMs: number;
}

/** Changes whenever the file does. */
export type Tag = string;

export type Replaced = { readonly kind: 'written'; readonly tag: Tag } | { readonly kind: 'changed' };

/** Where files are stored: a folder on a disk, or a bucket. Failures throw. */
export interface FileStore {
  /**
   * Whether `replace` compares and writes in one step, so that of two nodes that replace the same file only one succeeds. Without that,
   * each node writes its own files.
   */
  readonly isGuarded: (late: AbortSignal) => Promise<boolean>;
  /** Called before the first write to a folder. */
  readonly prepare: (folder: string) => Promise<void>;
  /** Removes the incomplete files of killed writers, in all folders. */
  readonly removeAbandoned: () => Promise<void>;
  /** The complete files in a folder and below it; of all folders for ''. */
  readonly list: (folder: string, late?: AbortSignal) => Promise<readonly StoredFile[]>;
  /** Undefined if there is no such file. */
  readonly read: (
    name: string,
    late?: AbortSignal,
  ) => Promise<{ readonly bytes: Uint8Array; readonly tag: Tag } | undefined>;
  /** The content in order, in pieces of any length. */
  readonly pieces: (name: string, late: AbortSignal) => AsyncIterable<Uint8Array>;
  /**
   * Replaces a file as a whole: a reader sees the old content or the new one. Its tag must still be `expected`; 'absent' means that
   * there must be no such file. If `late` aborts, nothing is written: another node may be writing the same rows by now.
   */
  readonly replace: (
    name: string,
    content: Uint8Array | string,
    expected: Tag | 'absent',
    late?: AbortSignal,
  ) => Promise<Replaced>;
}
