import { checkFiles } from '../documents/check.ts';
import { readShippedConnectors } from '../documents/load.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { shippedConnectorsDir } from '../runtime/workspace-documents.ts';
import { currentDocuments } from '../store/documents/documents.ts';
import { documentText } from '../store/documents/list.ts';

/** The connectors in force, and the shipped ones that no integration uses yet: the first integration that names one puts it in force. */
export async function listConnectors(runtime: Runtime) {
  const shipped = checkFiles(await readShippedConnectors(shippedConnectorsDir));
  const inForce = await currentDocuments(runtime.pool, 'connector');
  const known = new Set(inForce.map(({ name }) => name));
  const unused = shipped.kind === 'ok' ? [...shipped.documents.connectors.values()] : [];
  return [
    ...inForce.map(({ name, body }) => rowOf(name, body, false)),
    ...unused.filter(({ name }) => !known.has(name)).map(({ name, body }) => rowOf(name, body, true)),
  ].toSorted((one, other) => one.name.localeCompare(other.name));
}

/** The text of a connector that is in force or shipped. */
export async function connectorText({ pool }: Pick<Runtime, 'pool'>, name: string): Promise<string | undefined> {
  const inForce = await documentText(pool, 'connector', name, undefined);
  if (inForce !== undefined) return inForce.source;
  const shipped = await readShippedConnectors(shippedConnectorsDir);
  return shipped.find(({ file }) => file.endsWith(`/${name}/connector.yaml`))?.text;
}

function rowOf(name: string, body: unknown, shipped: boolean) {
  const { title, description } = body as { readonly title?: string; readonly description?: string };
  return { name, title: title ?? null, description: description ?? null, shipped };
}
