import { readShippedConnectors } from '../../core/documents/load.ts';
import { parseFile } from '../../core/documents/parse.ts';
import { stemOf } from '../../core/documents/references.ts';
import { findSystems, readSystems, type System } from '../../core/documents/systems.ts';
import { currentDocuments } from '../../core/store/documents/documents.ts';
import { documentText } from '../../core/store/documents/list.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { shippedConnectorsDir } from '../../runtime/workspace-documents.ts';

/**
 * The connectors in force, and the shipped ones that no integration uses yet: the first integration that names one puts it in force. With
 * `search`, those whose system has such a name, vendor or market, or else the nearest name.
 */
export async function listConnectors(runtime: Runtime, search = '') {
  const all = await readSystems();
  const { found, similar } = findSystems(all, search);
  const wanted = new Set((found.length > 0 ? found : similar).map(({ name }) => name));
  const systems = new Map(all.map((one) => [one.name, one]));
  const inForce = await currentDocuments(runtime.pool, 'connector');
  const known = new Set(inForce.map(({ name }) => name));
  const unused = (await readShippedConnectors(shippedConnectorsDir)).filter((one) => !known.has(stemOf(one)));
  return [
    ...inForce.map(({ name, body }) => rowOf(name, body, false, systems.get(name))),
    ...unused.map((source) => {
      const system = systems.get(stemOf(source));
      return rowOf(stemOf(source), system ?? parseFile(source).document?.body, true, system);
    }),
  ]
    .filter(({ name }) => search === '' || wanted.has(name) || name.includes(search.toLowerCase()))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

/** The text of a connector that is in force or shipped. */
export async function connectorText({ pool }: Pick<Runtime, 'pool'>, name: string): Promise<string | undefined> {
  const inForce = await documentText(pool, 'connector', name, undefined);
  if (inForce !== undefined) return inForce.source;
  const shipped = await readShippedConnectors(shippedConnectorsDir);
  return shipped.find((source) => stemOf(source) === name)?.text;
}

function rowOf(name: string, body: unknown, shipped: boolean, system: System | undefined) {
  const { title, description } = body as { readonly title?: string; readonly description?: string };
  return { name, title: title ?? null, description: description ?? null, shipped, system: system ?? null };
}
