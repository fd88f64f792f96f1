import type { JobPreview } from '../operations/jobs/kind.ts';
import { type CommonOptions, printJson, say } from './command.ts';
import { count } from './sync-progress.ts';

/** What a destination would get, before anything is sent. */
export function showPreview({ total, looked_at, counts, samples }: JobPreview, { json }: CommonOptions): void {
  if (json) {
    printJson({ total, looked_at, counts, samples });
    return;
  }
  say(`${count(total, 'record')}${looked_at === null ? '' : `, of which the first ${looked_at} were looked at`}:`);
  for (const { label, count: found } of counts) say(`  ${found} ${label}`);
  say(`Nothing was sent. Examples: ${samples.map(({ id }) => id).join(', ') || 'none'}.`);
}
