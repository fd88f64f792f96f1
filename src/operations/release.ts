import { isSeq, parseDocument } from 'yaml';
import { InnboundError } from '../errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { documentsAround } from '../store/documents/documents.ts';
import { makeDue, undelivered } from '../store/outbox/resend.ts';
import { type Applied, applyDocument } from './edit-documents.ts';
import { foreseeSend } from './foresee-send.ts';
import type { JobPreview } from './jobs/kind.ts';
import { isCounted, resendLanes } from './resend.ts';

/** What waits for the release of a brand's deliveries to a destination, judged as a delivery would be. Nothing is sent. */
export async function previewRelease(runtime: Runtime, integration: string, destination: string): Promise<JobPreview> {
  const lanes = resendLanes(runtime, { integration, destination }).filter(isCounted);
  const { waiting: total } = await undelivered(runtime.pool, lanes);
  return foreseeSend(runtime, lanes, { total, onlyWaiting: true });
}

/** Takes the destination out of `preview` in the brand's document: what waits is sent, and so is everything after it. */
export async function release(
  runtime: Runtime,
  integration: string,
  destination: string,
  by: string,
): Promise<Applied> {
  const { body } = runtime.active().documents.get(integration) ?? {};
  if (!body?.preview?.includes(destination)) {
    throw new InnboundError(
      'operate.conflict',
      `The deliveries of ${integration} to ${destination} are not in preview.`,
    );
  }
  const around = await documentsAround(runtime.pool, [integration]);
  const before = around.find(({ kind, name }) => kind === 'integration' && name === integration);
  const yaml = parseDocument(before?.source ?? '', { uniqueKeys: false });
  const listed = yaml.get('preview');
  if (isSeq(listed)) listed.items = listed.items.filter((one) => String(one) !== destination);
  if (isSeq(listed) && listed.items.length === 0) yaml.delete('preview');
  const text = yaml.toString({ lineWidth: 0 });
  await makeDue(runtime.pool, integration, destination);
  return applyDocument(runtime, { kind: 'integration', name: integration, text }, by, {
    ...(before && { replaces: before.version }),
  });
}
