import { compilePlan, compileShapes, type Plan } from '../../core/brand/compile.ts';
import { parseSources } from '../../core/documents/check.ts';
import type { Bodies, LoadedDocument } from '../../core/documents/kinds.ts';
import { readShippedConnectors, readWorkspace } from '../../core/documents/load.ts';
import type { Mistake } from '../../core/documents/mistake.ts';
import type { ParsedFile, SourceFile } from '../../core/documents/parse.ts';
import { pathFromText } from '../../core/documents/path.ts';
import { noIntegration } from '../../errors/no-integration.ts';
import { InnboundError } from '../../errors.ts';
import { adapterFile } from '../../runtime/adapter-file.ts';
import { invalidDocuments, shippedConnectorsDir } from '../../runtime/workspace-documents.ts';
import { type Property, sampleIntegration } from './preview-mapping.ts';

/**
 * The pipeline of one connector, from the files. Mistakes in other documents do not matter, and a shipped connector needs no
 * workspace. Throws if one of the two documents is missing or has mistakes.
 */
export async function pathToMap(
  workspaceDir: string,
  connector: string,
  integration: string | undefined,
  property: Property,
): Promise<{ readonly path: Plan; readonly connector: Bodies['connector']; readonly adapter: string | undefined }> {
  const files = parseSources(await sourcesOf(workspaceDir), connector);
  const ofKind = (kind: SourceFile['kind']) => files.filter(({ source }) => source.kind === kind);
  const chosen = ofKind('connector').find(({ name }) => name === connector);
  if (chosen === undefined) {
    const known = [...new Set(ofKind('connector').flatMap(({ name }) => name ?? []))].sort();
    throw new InnboundError(
      'documents.unknown_name',
      `There is no connector ${connector}; known connectors: ${known.join(', ')}.`,
    );
  }
  const brand = integration === undefined ? undefined : ofKind('integration').find(({ name }) => name === integration);
  if (integration !== undefined && brand === undefined) {
    const known = ofKind('integration').flatMap(({ name }) => name ?? []);
    throw new InnboundError('documents.unknown_name', noIntegration(integration, known));
  }
  refuse([...chosen.mistakes, ...(brand?.mistakes ?? [])], workspaceDir);
  const body =
    brand === undefined
      ? sampleIntegration(connector, property)
      : (brand.document as LoadedDocument<'integration'>).body;
  if (typeof body === 'string') throw new InnboundError('operate.usage', body);
  const { body: mapping } = chosen.document as LoadedDocument<'connector'>;
  const workspace = ofKind('workspace')[0]?.document as LoadedDocument<'workspace'> | undefined;
  const compiled = compilePlan(mapping, body, compileShapes(mapping, body.timezone, workspace?.body.spellings));
  if (compiled.kind === 'ok')
    return { path: compiled.plan, connector: mapping, adapter: adapterFile(workspaceDir, mapping) };
  const mistakes = compiled.problems.map(({ document, path, message, offset }) =>
    placeIn(document === 'connector' ? chosen : (brand ?? chosen), path, message, offset),
  );
  refuse(mistakes, workspaceDir);
  throw new TypeError('a mapping that does not compile has no problems');
}

async function sourcesOf(workspaceDir: string): Promise<SourceFile[]> {
  try {
    return await readWorkspace(workspaceDir, { shippedConnectorsDir });
  } catch (error) {
    if (error instanceof InnboundError && error.code === 'documents.no_workspace')
      return readShippedConnectors(shippedConnectorsDir);
    throw error;
  }
}

function placeIn(file: ParsedFile, path: string, message: string, offset: number | undefined): Mistake {
  return file.mistakeAt({ path: pathFromText(path), at: 'value', message, ...(offset !== undefined && { offset }) });
}

function refuse(mistakes: readonly Mistake[], workspaceDir: string): void {
  if (mistakes.length > 0) throw invalidDocuments(mistakes, workspaceDir);
}
