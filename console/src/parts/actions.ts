import { capital, words } from './format.ts';

/** What people did, by the id of the operation. */
const said: ReadonlyMap<string, string> = new Map([
  ['node.start', 'Node started'],
  ['session.create', 'Signed in'],
  ['documents.apply', 'Applied'],
  ['documents.remove', 'Removed'],
  ['integrations.pause', 'Paused'],
  ['integrations.resume', 'Resumed'],
  ['integrations.run', 'Started a run of'],
  ['integrations.backfill', 'Started a backfill of'],
  ['integrations.refetch', 'Fetched a reservation of'],
  ['integrations.resend', 'Resent'],
  ['integrations.reprocess', 'Reprocessed'],
  ['dead_letters.replay', 'Replayed the dead letter'],
  ['dead_letters.replay_many', 'Replayed dead letters'],
  ['dead_letters.assign', 'Assigned the guest event of the dead letter'],
  ['dead_letters.drop', 'Dropped the dead letter'],
  ['guests.merge', 'Merged the profile'],
  ['guests.split', 'Split the profile'],
  ['guests.not_same', 'Told apart the profile'],
  ['endpoint.issue', 'Created the endpoint of'],
  ['endpoint.rotate', 'Rotated the secret of'],
  ['endpoint.retire', 'Retired the endpoint of'],
  ['jobs.start', 'Started a job'],
  ['jobs.stop', 'Stopped the job'],
  ['secrets.put', 'Set the secret'],
  ['secrets.delete', 'Deleted the secret'],
]);

export function actionText(mark: { action: string; what: string; integration: string | null }): string {
  const verb = said.get(mark.action) ?? capital(words(mark.action.replace('.', ' ')));
  const about = mark.what === mark.integration ? [mark.what] : [mark.what, mark.integration];
  return [verb, ...about].filter(Boolean).join(' ');
}
