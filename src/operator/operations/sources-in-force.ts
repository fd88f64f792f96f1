import type { Active } from '../../core/brand/active.ts';
import type { Versioned } from '../../core/brand/brand.ts';
import { textsIn } from '../../core/documents/checked.ts';
import type { DocumentKind, StoredDocument } from '../../core/documents/kinds.ts';
import { readShippedConnectors } from '../../core/documents/load.ts';
import type { SourceFile } from '../../core/documents/parse.ts';
import type { Pool, Tx } from '../../core/store/db/pool.ts';
import { documentsAround } from '../../core/store/documents/documents.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { shippedConnectorsDir } from '../../runtime/workspace-documents.ts';
import { isDocumentName } from '../../terms.ts';
import { offThread } from './off-thread.ts';

/** The texts that an edited document is checked with. */

export interface Named {
  readonly kind: DocumentKind;
  readonly name: string | undefined;
}

export type InForce = StoredDocument & { readonly source: string };

export const isOne = (one: Named, { kind, name }: Named): boolean =>
  one.kind === kind && (kind === 'workspace' || one.name === name);

/** The only place where a name becomes a path. Whatever takes in a name has checked it; one that slipped through must not reach the disk. */
export function fileName(kind: DocumentKind, name: string): string {
  if (kind === 'workspace') return 'innbound.yaml';
  if (!isDocumentName(name)) throw new TypeError(`a ${kind} has a name that no document can have`);
  return `${kind}s/${name}.yaml`;
}

/**
 * The documents that an edit can break or needs, and the edited one: of 100,000 integrations only a few. Under the lock that a change
 * holds, the documents of this node are those in force, once it has read them again.
 */
export async function readAround(runtime: Runtime, db: Pool | Tx, edited: Named, text = ''): Promise<InForce[]> {
  await runtime.refresh();
  return documentsAround(db, integrationsAround(runtime.active(), edited, text));
}

function integrationsAround({ documents, settings }: Active, { kind, name }: Named, text: string): string[] {
  // Whatever looks like a name: the text may not be valid.
  const inText = new Set(text.match(/[a-z0-9_-]+/g));
  const inRoutes = Object.values(settings.alerts.routes ?? {}).flatMap(({ integrations = [] }) => integrations);
  const itself = kind === 'integration' && name !== undefined ? [name] : [];
  const named = new Set([...inText, ...inRoutes, ...itself]);
  const refersTo = ({ connector, deliver, pulled_by }: Versioned<'integration'>['body']): boolean => {
    if (kind === 'connector') return connector === name;
    if (kind === 'destination') return deliver.includes(name ?? '');
    return kind === 'integration' && pulled_by !== undefined && named.has(pulled_by);
  };
  // Brands whose polls may get the same reservations: the same property, or the same account, of which a few are enough.
  const polls = ({ body: { pull } }: Versioned<'integration'>) =>
    kind === 'integration' && pull !== undefined && text.includes(pull.base_url);
  const hasAccount = ({ body: { pull } }: Versioned<'integration'>) =>
    [...textsIn(pull?.auth)].every((one) => text.includes(one.text));
  const around = [
    ...[...named].map((one) => documents.get(one)).filter((one) => one !== undefined),
    ...documents.values().filter(({ body }) => refersTo(body)),
    ...documents.values().filter((one) => polls(one) && text.includes(one.body.brand_id)),
    ...documents
      .values()
      .filter((one) => polls(one) && hasAccount(one))
      .take(20),
  ];
  return [...new Set([...itself, ...around.flatMap((one) => [one.name, one.body.pulled_by ?? one.name])])];
}

/** The source texts of the other documents and of the shipped connectors. */
export async function sourcesAround(around: readonly InForce[], edited: readonly Named[]): Promise<SourceFile[]> {
  const others = around.filter((one) => !edited.some((other) => isOne(one, other)));
  return [
    ...others.map((one) => ({
      kind: one.kind,
      file: fileName(one.kind, one.name),
      text: one.source,
      shipped: false,
    })),
    ...(await readShippedConnectors(shippedConnectorsDir)),
  ];
}

/** The sources without mistakes: a document that was broken before must not block the edit of another one. */
export async function soundSources(
  runtime: Runtime,
  around: readonly InForce[],
  others: readonly SourceFile[],
  edited: readonly Named[],
): Promise<SourceFile[]> {
  const unedited = edited.flatMap(({ kind, name }) => {
    const text = around.find((one) => isOne(one, { kind, name }))?.source;
    return text === undefined ? [] : [{ kind, file: fileName(kind, name ?? 'new-document'), text, shipped: false }];
  });
  const checked = await offThread(runtime, 'check', { sources: [...others, ...unedited] });
  const broken = new Set(checked.kind === 'ok' ? [] : checked.mistakes.map((one) => one.file));
  return others.filter((one) => !broken.has(one.file));
}
