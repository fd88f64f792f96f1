import type { z } from 'zod';
import type { Json } from '../terms.ts';
import { type Connector, connectorSchema } from './connector.ts';
import { type Destination, destinationSchema } from './destination.ts';
import { type Integration, integrationSchema } from './integration.ts';
import { type WorkspaceSettings, workspaceSchema } from './workspace-settings.ts';

export interface Bodies {
  connector: Connector;
  integration: Integration;
  destination: Destination;
  workspace: WorkspaceSettings;
}
export type DocumentKind = keyof Bodies;

/** The one schema of each kind of document. */
export const schemas: { readonly [Kind in DocumentKind]: z.ZodType<Bodies[Kind]> } = {
  connector: connectorSchema,
  integration: integrationSchema,
  destination: destinationSchema,
  workspace: workspaceSchema,
};

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
