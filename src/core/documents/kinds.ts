import type { z } from 'zod';
import type { Json } from '../../terms.ts';
import { connectorSchema } from './connector.ts';
import { destinationSchema } from './destination.ts';
import { integrationSchema } from './integration.ts';
import { workspaceSchema } from './workspace-settings.ts';

/** The one schema of each kind of document. */
export const schemas = {
  connector: connectorSchema,
  integration: integrationSchema,
  destination: destinationSchema,
  workspace: workspaceSchema,
} as const;
export type DocumentKind = keyof typeof schemas;
export type Bodies = { [Kind in DocumentKind]: z.infer<(typeof schemas)[Kind]> };

/** The workspace's document has no name. */
export const workspaceName = 'innbound';

/** A document that matches its schema. */
export interface LoadedDocument<Kind extends DocumentKind = DocumentKind> {
  readonly kind: Kind;
  readonly name: string;
  /** Relative to the workspace. */
  readonly file: string;
  /** Whether it comes with the product rather than from the workspace. */
  readonly shipped: boolean;
  /** The text as written. */
  readonly source: string;
  /** With all defaults filled in. References to secrets are not resolved. */
  readonly body: Bodies[Kind];
  /** SHA-256 of the body: comments and layout do not change it. */
  readonly hash: string;
}

export interface LoadedDocuments {
  readonly connectors: ReadonlyMap<string, LoadedDocument<'connector'>>;
  readonly integrations: ReadonlyMap<string, LoadedDocument<'integration'>>;
  readonly destinations: ReadonlyMap<string, LoadedDocument<'destination'>>;
  readonly workspace: LoadedDocument<'workspace'>;
}

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
