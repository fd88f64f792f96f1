import { z } from 'zod';
import type { TextFinding } from './checked.ts';
import type { LoadedDocument, LoadedDocuments } from './kinds.ts';
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
export const mistakeSchema = z.object({
  /** Relative to the workspace. */
  file: z.string(),
  /** From 1, like the column. */
  line: z.int(),
  column: z.int(),
  /** Such as pull.syncs.stay.every; empty for the document as a whole. */
  path: z.string(),
  message: z.string(),
  suggestion: z.string().exactOptional(),
});
/** Without `severity` it keeps the documents from being applied. */
export type Mistake = Readonly<z.infer<typeof mistakeSchema>> & { readonly severity?: 'warning' };

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

/** A problem found by a check of another room: a mapping or a rule that does not compile. */
export interface CheckFinding extends TextFinding {
  readonly document: Pick<LoadedDocument, 'kind' | 'name'>;
  /** map.guests.fields.email, or the steps themselves. */
  readonly path: string | Path;
  /** A warning is reported, but the documents can be applied. */
  readonly severity?: 'warning' | undefined;
}

/** Gets every document. Of one with mistakes it gets the valid part, or nothing if too little is valid. */
export type DocumentCheck = (documents: LoadedDocuments) => readonly CheckFinding[];
