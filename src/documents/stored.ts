import type { Json } from '../terms.ts';
import type { DocumentKind } from './kinds.ts';

/** One version of a document. */
export interface StoredDocument {
  readonly kind: DocumentKind;
  readonly name: string;
  readonly version: number;
  readonly body: Json;
  readonly hash: string;
}

export type DocumentName = Pick<StoredDocument, 'kind' | 'name'>;

/** How the documents in force changed. */
export interface DocumentChanges {
  readonly put: readonly StoredDocument[];
  readonly removed: readonly DocumentName[];
}
