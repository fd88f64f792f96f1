import { noteOf } from '../../src/core/canonical/notes.ts';
import { amend } from '../../src/core/pipeline.ts';
import type { Statement } from '../../src/core/reconcile/forms.ts';

/** What a run says of a booking that its list no longer shows (intake/pull/run/unlisted.ts). */
export function cancelledForTest(id: string, effectiveAt: number, causeId: string): Statement {
  const notes = [noteOf('gone_is_cancelled', 'status', { before: 'confirmed', after: 'cancelled' })];
  const content = { values: { status: 'cancelled' }, lists: {} };
  const arrival = { mode: 'single', effectiveAt, cause: 'run', causeId } as const;
  return { ...amend({ id, content, raw: null, notes }, arrival), source: 'pull' };
}
