import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Connector } from '../core/documents/connector.ts';
import { shippedConnectorsDir } from './workspace-documents.ts';

/**
 * Resolves an adapter's path relative to its connector's file: connectors/NAME.yaml or connectors/NAME/connector.yaml, in the workspace
 * or among the shipped connectors. The path may not leave these folders: a document can name code, but not contain it.
 */
export function adapterFile(workspaceDir: string, { connector, pull }: Connector): string | undefined {
  const adapter = pull?.adapter;
  if (adapter === undefined || adapter === 'xml') return adapter;
  const own = path.join(workspaceDir, 'connectors');
  const places = [
    { root: workspaceDir, from: path.join(own, connector) },
    { root: workspaceDir, from: own },
    { root: shippedConnectorsDir, from: path.join(shippedConnectorsDir, connector) },
  ];
  const files = places
    .map(({ root, from }) => ({ root, file: path.resolve(from, adapter) }))
    .filter(({ root, file }) => !path.relative(root, file).startsWith('..'))
    .map(({ file }) => file);
  return files.find((file) => existsSync(file)) ?? files[0] ?? path.join(own, path.basename(adapter));
}
