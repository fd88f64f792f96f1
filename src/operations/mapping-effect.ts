import { activate, documentsOf } from '../brand/active.ts';
import { parseDocument } from '../documents/check.ts';
import { noIntegration } from '../errors/no-integration.ts';
import { InnboundError } from '../errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { newestPayloads } from '../store/records/kept-payloads.ts';
import { isObject, type Json } from '../terms.ts';
import { offThread } from './off-thread.ts';
import { type Reprocessed, reprocessBatch } from './reprocess.ts';

/** What a changed mapping would do to the reservations that a brand received last. */
export type MappingEffect = Pick<Reprocessed, 'records' | 'changed' | 'unchanged' | 'refused' | 'samples'>;

const most = 100;

/** What a connector text that is not in force would do to the reservations that a brand received last. Changes nothing. */
export async function mappingEffect(runtime: Runtime, name: string, text: string): Promise<MappingEffect> {
  const inForce = runtime.active().integrations.get(name);
  if (inForce === undefined) throw new InnboundError('documents.unknown_name', noIntegration(name));
  const parsed = parseDocument(text, 'connector.yaml', 'connector');
  const mistake = (message: string) => new InnboundError('operate.invalid_input', `The connector: ${message}`);
  if (parsed.kind === 'invalid') throw mistake(parsed.mistakes[0]?.message ?? 'does not match the schema');
  const [connector, integration, workspace] = documentsOf(inForce);
  const edited = {
    ...connector,
    version: connector.version + 1,
    body: named(parsed.document.body as Json, connector.name),
  };
  const active = activate([edited, integration, workspace], runtime.active().erasure);
  const brand = active.integrations.get(name);
  if (brand === undefined) throw mistake(active.broken[0]?.message ?? 'cannot be used');
  const payloads = await newestPayloads(runtime.pool, name, most);
  // First in a worker with a deadline: the mapping may be built to take very long.
  await offThread(runtime, 'prepareMany', { brand: [edited, integration, workspace], payloads });
  const { records, changed, unchanged, refused, samples } = await reprocessBatch(runtime, brand, payloads, true);
  return { records, changed, unchanged, refused, samples };
}

const named = (body: Json, name: string): Json => (isObject(body) ? { ...body, connector: name } : body);
