import type { Path } from './path.ts';

/** A mistake inside one document, before its position in the text is known. */
export interface Problem {
  readonly path: Path;
  /** Whether the key itself is wrong or what it holds. */
  readonly at: 'key' | 'value';
  /** One sentence, including "did you mean". */
  readonly message: string;
  /** The text that was probably meant. */
  readonly suggestion?: string;
  /** Whether the rest of the object can only be read once this value is right. */
  readonly decides?: true;
  /** The character inside the value, where the value is text. */
  readonly offset?: number;
}

/** One mistake in a workspace, as `validate` prints it. */
export interface Mistake {
  /** Relative to the workspace. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Such as pull.syncs.stay.every; empty for the document as a whole. */
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string;
  /** Absent for a mistake, which keeps the documents from being applied. */
  readonly severity?: 'warning';
}

/** `message`, with the suggestion as its ending. */
export function withSuggestion(
  message: string,
  suggestion: string | undefined,
): { message: string; suggestion?: string } {
  return suggestion === undefined ? { message } : { message: `${message}; did you mean ${suggestion}?`, suggestion };
}

/** In reading order: file by file, from top to bottom. */
export function inOrder(mistakes: readonly Mistake[]): Mistake[] {
  return [...mistakes].sort(
    (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column,
  );
}
