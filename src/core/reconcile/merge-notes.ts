import type { Note } from '../../terms.ts';
import { noteOf } from '../canonical/notes.ts';
import { never, type Source, type Time, unreadable } from './content.ts';
import type { Difference } from './difference.ts';
import type { Winner } from './merge.ts';

/**
 * For the timeline: which fields of a new version the message did not contain, and which source they were kept from. One note per
 * source.
 */
export function keptNotes(winners: ReadonlyMap<string, Winner>, source: Source, time: Time): Note[] {
  const kept = new Map<string, { winner: Winner; paths: string[] }>();
  for (const [path, winner] of winners) {
    if (path === 'id') continue;
    // A consent is as old as its first mention.
    if (winner.source === source && path.endsWith('.marketing_consent')) continue;
    // Text that could not be read has its own note.
    if (winner.at === unreadable || (winner.source === source && winner.at[0] === time[0] && winner.at[1] === time[1]))
      continue;
    const key = `${winner.source} ${winner.at[0]}`;
    kept.getOrInsertComputed(key, () => ({ winner, paths: [] })).paths.push(path);
  }
  return [...kept.values()].map(({ winner, paths }) => ({
    step: 'reconcile',
    field: paths.join(', '),
    code: winner.at === never || winner.at[0] === 0 ? 'assumed' : `kept_from_${winner.source}`,
    reason: `No readable value in this message: ${originOf(winner)}.`,
  }));
}

function originOf({ source, at: [ms] }: Winner): string {
  if (ms === 0) return 'assumed by the connector';
  const time = new Date(ms).toISOString();
  if (source === 'pull') return `kept from the list requested at ${time}`;
  if (source === 'single') return `kept from the single answer requested at ${time}`;
  if (source === 'guest') return `kept from the guest’s own event of ${time}`;
  if (source === 'profile') return `kept from what was known of the guest at ${time}`;
  return source === 'push'
    ? `kept from the event of ${time}`
    : `kept from the report of ${reporter(source)} of ${time}`;
}

const consentPath = /^guests\[\d+\]\.marketing_consent$/;

/** For the timeline: which source gave or withdrew marketing consent, and when. */
export function consentNotes(diff: readonly Difference[], giverOf: (path: string) => Winner | undefined): Note[] {
  return diff.flatMap(({ path, after }): Note[] => {
    const winner = consentPath.test(path) && typeof after === 'boolean' ? giverOf(path) : undefined;
    return winner === undefined ? [] : [consentNote(path, after as boolean, winner)];
  });
}

function consentNote(field: string, consent: boolean, { source, at: [ms] }: Winner): Note {
  const partner: Partial<Record<Source, string>> = {
    pull: 'The partner’s list',
    single: 'The partner’s single answer',
    push: 'An event',
    guest: 'The guest’s own event',
    profile: 'What is known of the guest',
  };
  const by = partner[source] ?? `A report of ${reporter(source)}`;
  const time = new Date(ms).toISOString();
  const reason = `${by} of ${time} says that the guest ${consent ? 'agrees' : 'does not agree'} to marketing.`;
  return noteOf(consent ? 'consent_given' : 'consent_withdrawn', field, { reason, after: consent });
}

const reporter = (source: Source): string => `the destination ${source.slice(source.indexOf(':') + 1)}`;
