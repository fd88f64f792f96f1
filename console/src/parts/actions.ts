import type { Json } from '../api/types.ts';
import { capital, shown, words } from './format.ts';

/** What people did, by the id of the operation. */
export const phrases: ReadonlyMap<string, string> = new Map([
  ['node.start', 'Node started'],
  ['session.create', 'Signed in'],
  ['documents.apply', 'Applied'],
  ['documents.remove', 'Removed'],
  ['integrations.pause', 'Paused'],
  ['integrations.resume', 'Resumed'],
  ['integrations.start', 'Started the pulls of'],
  ['integrations.run', 'Started a run of'],
  ['integrations.backfill', 'Started a backfill of'],
  ['integrations.refetch', 'Fetched a reservation of'],
  ['integrations.resend', 'Resent'],
  ['integrations.preview_release', 'Previewed a release of'],
  ['integrations.release', 'Released the deliveries of'],
  ['integrations.budget', 'Set a budget of'],
  ['integrations.reprocess', 'Reprocessed'],
  ['dead_letters.replay', 'Replayed the dead letter'],
  ['dead_letters.replay_many', 'Replayed dead letters'],
  ['dead_letters.assign', 'Assigned the guest event of the dead letter'],
  ['dead_letters.drop', 'Dropped the dead letter'],
  ['guests.merge', 'Merged the profile'],
  ['guests.split', 'Split the profile'],
  ['guests.not_same', 'Told apart the profile'],
  ['onboarding.create', 'Created an onboarding link for'],
  ['onboarding.revoke', 'Revoked the onboarding link'],
  ['onboarding.answer', 'Answered the partner of the onboarding link'],
  ['onboarding.approve', 'Approved the onboarding link'],
  ['partner.open', 'Opened the onboarding link'],
  ['partner.secret', 'Took a webhook secret on the onboarding page of'],
  ['partner.sample', 'Sent a sample on the onboarding page of'],
  ['partner.retry-test', 'Began a test of retries on the onboarding page of'],
  ['partner.pull', 'Saved the connection on the onboarding page of'],
  ['partner.test', 'Tested the connection on the onboarding page of'],
  ['partner.check', 'Checked the API on the onboarding page of'],
  ['partner.consent', 'Created a consent link on the onboarding page of'],
  ['partner.comment', 'Wrote a comment on the onboarding page of'],
  ['partner.ready', 'Said ready on the onboarding page of'],
  ['endpoint.issue', 'Created the endpoint of'],
  ['endpoint.rotate', 'Rotated the secret of'],
  ['endpoint.retire', 'Retired the endpoint of'],
  ['jobs.start', 'Started a job'],
  ['jobs.stop', 'Stopped the job'],
  ['secrets.put', 'Set the secret'],
  ['secrets.delete', 'Deleted the secret'],
  ['spellings.add', 'Added a spelling'],
  ['integrations.try_now', 'Tried the partner’s API of'],
  ['destinations.try_now', 'Tried the destination'],
  ['destinations.prepare', 'Set up at its vendor the destination'],
  ['integrations.consent', 'Created a consent link for'],
  ['integrations.dry_run', 'Pulled a day without storing it, of'],
  ['reservations.search', 'Searched reservations'],
  ['guests.search', 'Searched guests'],
  ['arrivals.search', 'Searched everything that arrived'],
  ['reservations.timeline', 'Opened the reservation'],
  ['guests.timeline', 'Opened the guest'],
  ['guests.stays', 'Opened the stays of the guest'],
  ['guests.pairs', 'Compared profiles of'],
  ['guests.shared_addresses', 'Opened the shared addresses of'],
  ['dead_letters.get', 'Opened the payload of the dead letter'],
  ['dead_letters.preview', 'Previewed a replay of the dead letter'],
  ['dead_letters.candidates', 'Opened the persons of the dead letter'],
  ['events.get', 'Opened the payload of the event'],
  ['changes.read', 'Read the feed of changes'],
  ['runs.partner_text', 'Opened the partner’s words of the run'],
  ['sandbox.get', 'Opened the sandbox report'],
  ['holds.preview', 'Previewed the hold'],
  ['holds.release', 'Released the hold'],
  ['holds.refuse', 'Refused the hold'],
  ['alerts.acknowledge', 'Acknowledged the alert'],
  ['alert_routes.test', 'Sent a test over the alert route'],
  ['incidents.acknowledge', 'Acknowledged the incident'],
  ['cases.save', 'Kept the mapping case'],
  ['cases.check', 'Mapped the kept samples of'],
  ['cases.remove', 'Forgot the mapping case'],
  ['map.preview', 'Mapped a sample'],
  ['map.effect', 'Tried a mapping on stored payloads of'],
  ['map.fetch', 'Tested the connection of'],
  ['privacy.erase', 'Erased a guest'],
  ['privacy.export', 'Exported everything held on a guest'],
  ['privacy.preview', 'Previewed the erasure of a guest'],
  ['privacy.find', 'Looked for the receipt of an erasure'],
  ['privacy.stop', 'Stopped the erasure'],
  ['session.end', 'Signed out'],
  ['session.end_everywhere', 'Signed out everywhere'],
  ['session.back_channel_logout', 'Was signed out by the sign-in service'],
  ['tokens.create', 'Created the token'],
  ['tokens.revoke', 'Revoked the token'],
  ['tokens.sign_in_link', 'Created a sign-in link'],
  ['key.rotate', 'Rotated the key of the installation'],
  ['jobs.preview', 'Previewed a job'],
  ['store.restored', 'Declared the database restored'],
]);

/** Values that say how much was asked for, not what about. */
const notNamed: ReadonlySet<string> = new Set([
  'integration',
  'limit',
  'cursor',
  'preview',
  'replaces',
  'accept_cases',
]);

/** One entry of the audit as a sentence, without its subject: "opened the reservation R1 of grand". */
export function auditText(row: {
  action: string;
  integration: string | null;
  target: Json;
  status: number | null;
}): string {
  const { target, integration } = row;
  const named = target !== null && typeof target === 'object' && !Array.isArray(target) ? Object.entries(target) : [];
  // What was searched for is kept as a hash, which says nothing to a reader.
  const isHash = (value: Json) => typeof value === 'string' && value.startsWith('hmac:');
  const what = named
    .filter(([key, value]) => !notNamed.has(key) && !isHash(value))
    .map(([key, value]) => part(key, value));
  const verb = phrases.get(row.action) ?? capital(words(row.action.replace('.', ' ')));
  const isFirst = / (of|for|in)$|^(Paused|Resumed|Resent|Reprocessed)$/.test(verb);
  const text = [verb, isFirst && integration, ...what, !isFirst && integration && `of ${integration}`]
    .filter(Boolean)
    .join(' ');
  const failed = row.status !== null && row.status >= 400 ? `, which was refused (${row.status})` : '';
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}${failed}`;
}

function part(key: string, value: Json): string {
  const text = Array.isArray(value) ? value.map(shown).join(', ') : shown(value);
  return /^(id|name|kind|connector|destination|route|.*_id|documents|to|into)$/.test(key)
    ? text
    : `(${words(key)}: ${text})`;
}

export function actionText(mark: { action: string; what: string; integration: string | null }): string {
  const verb = phrases.get(mark.action) ?? capital(words(mark.action.replace('.', ' ')));
  const about = mark.what === mark.integration ? [mark.what] : [mark.what, mark.integration];
  return [verb, ...about].filter(Boolean).join(' ');
}
