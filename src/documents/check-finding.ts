import type { LoadedDocument, LoadedDocuments } from './kinds.ts';
import type { Path } from './path.ts';

/** A problem found by a check of another room: a mapping or a rule that does not compile. */
export interface CheckFinding {
  readonly document: Pick<LoadedDocument, 'kind' | 'name'>;
  /** map.guests.fields.email, or the steps themselves. */
  readonly path: string | Path;
  readonly message: string;
  readonly suggestion?: string | undefined;
  /** The character inside the text at the path. */
  readonly offset?: number | undefined;
  /** A warning is reported, but the documents can be applied. */
  readonly severity?: 'warning' | undefined;
}

/** Gets every document. Of one with mistakes it gets the valid part, or nothing if too little is valid. */
export type DocumentCheck = (documents: LoadedDocuments) => readonly CheckFinding[];
