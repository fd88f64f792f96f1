/** Writes docs/reference/alerts.md from the kinds, limits and advice of src/operator/watch/; test/docs/generated.test.ts says when to run it. */
import { writeFileSync } from 'node:fs';
import { dayKinds } from '../src/operator/operations/watch-once.ts';
import { manyBrands } from '../src/operator/watch/alerts.ts';
import {
  fewestFailures,
  fewestRefusals,
  fewestUnlisted,
  leastShare,
  mostBehindMs,
} from '../src/operator/watch/conditions/feeds.ts';
import { behindMs } from '../src/operator/watch/conditions/judged.ts';
import { fewestDead, fewestToBlame, timesUsual } from '../src/operator/watch/conditions.ts';
import { clockToleranceMs } from '../src/operator/watch/diagnosis.ts';
import { type AlertKind, advice, alertKinds } from '../src/operator/watch/facts.ts';
import {
  fewestADay,
  fewestARun,
  fewShare,
  leastDeadShare,
  leastRunSeconds,
  manyTimes,
} from '../src/operator/watch/feed.ts';

export const alertsFile = new URL('../docs/reference/alerts.md', import.meta.url);

const percent = (share: number) => `${Math.round(share * 100)} %`;
const habits = 'The last four weeks, at the hours of the property’s clock.';

/** What the condition is, when it raises the alert, and which other alert or state takes its place. */
const about: Record<AlertKind, readonly [means: string, when: string, silenced: string]> = {
  role_missing: ['No running node has the role `web`, or `worker`.', 'A minute after the last such node was seen.', ''],
  disk_full: [
    'The disk of a node’s workspace is nearly full. Without `DATABASE_URL` the database is there too.',
    'Less than 1 GB free.',
    '',
  ],
  destination_differs: [
    'An audit found records behind, changed, missing or wrongly there.',
    'At the end of the audit.',
    'the next audit of the same brand and destination',
  ],
  erased_guest_there: ['An audit found an erased guest in a destination.', 'At the end of the audit.', ''],
  auth_failed: [
    'The partner refuses the credentials of a brand; its pulls are paused.',
    'At the second 401, after one renewal.',
    '',
  ],
  breaker_open: ['A partner’s API does not work; its circuit is open.', 'After five failures in a row.', ''],
  stream_failing: [
    'A partner’s event stream cannot be read.',
    `${fewestFailures} failed connections in a row; one that sends more than we can read counts at once.`,
    '',
  ],
  stream_gap: [
    'The partner no longer had the event from which the stream was to continue.',
    'At once.',
    'the next complete run',
  ],
  stream_behind: [
    'A stream has not been read to its end.',
    `${mostBehindMs / 86_400_000} days; most partners keep events for seven.`,
    '',
  ],
  feed_silent: [
    'No event arrives, or no run finds a reservation, although one usually does at this hour.',
    `8 expected events missing, at the earliest after 15 minutes; 4 expected runs with reservations, after 90 minutes. ${habits}`,
    '`breaker_open` (pulls)',
  ],
  feed_low: [
    'Far fewer events, or reservations in a run, than usual on this weekday.',
    `Less than ${percent(fewShare)} of the usual number of a day, from ${fewestADay} events or ${fewestARun} reservations on.`,
    '`feed_silent`, `auth_failed`, `breaker_open`, `run_failed`, `stream_failing`; the hotel’s own bookings say that it is closed',
  ],
  runs_slow: [
    'Runs take far longer than usual on this weekday.',
    `${manyTimes} times as long, or longer every week; from ${leastRunSeconds} s on.`,
    'runs that have that many more reservations',
  ],
  webhooks_refused: [
    'Events of a brand are refused: signature, clock, envelope. Or a stream’s messages cannot be read.',
    `${fewestRefusals} since the last accepted one, or ${fewestRefusals} that are ${percent(leastShare)} of the last requests (critical from 50 % on).`,
    '',
  ],
  events_behind: [
    'Accepted events are not processed yet.',
    `The oldest waits for ${behindMs / 60_000} minutes.`,
    '`role_missing` (worker)',
  ],
  run_failed: [
    'The last run of a sync failed.',
    'At its end.',
    '`breaker_open` if the API does not work, `auth_failed` if credentials are refused',
  ],
  run_incomplete: [
    'The last run of a sync could not prove that it read everything.',
    'At its end.',
    '`breaker_open`, as for `run_failed`',
  ],
  dead_letters_growing: [
    'Far more new dead letters than usual.',
    `${fewestDead} in an hour, three times the usual number of an hour, and as many still open.`,
    'dead letters of a destination with `destination_refusing`',
  ],
  dead_letter_share: [
    'A far larger share of what arrives becomes a dead letter than usual on this weekday.',
    `${manyTimes} times the usual share, or more every week; from 10 a day and ${percent(leastDeadShare)} on.`,
    '',
  ],
  bookings_unlisted: [
    'Bookings disappeared from the partner’s lists without a cancellation.',
    `${fewestUnlisted} within a day.`,
    '',
  ],
  rows_held: [
    'Values of a feed are [held back](../guides/holds.md) as a likely mistake of the partner.',
    'With the hold.',
    '',
  ],
  rows_unusual: [
    'Nearly all bookings have something in common that is not held back: a withdrawn consent, a value that cannot be read, a repeated event id. Or many are cancelled at once.',
    'Cancellations: 10 in an hour that are a quarter of the coming bookings, or ten times the usual number. Event ids: 5 in a day. It stays for a day.',
    '',
  ],
  clock_skew: [
    'The clock of a node, or of a sender, is wrong.',
    `A node: more than ${clockToleranceMs / 1000} s off the database’s. A sender: as \`webhooks_refused\`, where the time was the reason, or most events of an hour more than a minute ahead.`,
    '',
  ],
  node_stalled: ['A loop of a node makes no progress.', '30 s for most loops.', ''],
  deliveries_behind: [
    'Deliveries of a brand to a destination are late.',
    `Due for ${behindMs / 60_000} minutes, and ${timesUsual} times as long as usual for this brand.`,
    '`role_missing` (worker), `destination_away`, `destination_refusing`, `destination_failing`, `paused`',
  ],
  destination_away: [
    'A destination does not answer, or answers everything with an error; its circuit is open.',
    'After five failed calls in a row.',
    '',
  ],
  destination_refusing: [
    'A destination refuses our credentials, or every change.',
    `Credentials: the first 401, or a 403 for a second record. Changes: ${fewestToBlame} records refused for good and none accepted since.`,
    '',
  ],
  destination_failing: [
    'Deliveries to a destination fail and none succeeds.',
    `${fewestToBlame} records are being retried, and nothing was accepted since.`,
    '`role_missing` (worker), `destination_away`, `destination_refusing`, `paused`',
  ],
  feedback_failing: [
    'Unsubscribes at a vendor cannot be read.',
    `${fewestFailures} failed attempts in a row.`,
    '`feedback: false`',
  ],
  document_broken: ['A document in force cannot be used, such as one whose secret is missing.', 'At once.', ''],
  alert_route_failing: ['An alert route does not accept alerts.', 'Three failed attempts in a row.', ''],
  partner_waiting: [
    'A partner on its onboarding page is ready, or has asked something.',
    'At once.',
    'an answer or the approval',
  ],
};

export const alertsText = () =>
  `${[
    '<!-- Written by scripts/alerts-reference.ts from src/operator/watch/; edits are lost. -->',
    '# Alerts',
    `Every kind of alert: what it means, when it is raised, and what to do. An alert ends by itself when its condition does. Alerts about a cause that brands share are one alert, and so is the same problem of ${manyBrands} brands or more. [Alert routes](../guides/alerts.md) send them to people; \`innbound alerts\` and the console list them.`,
    ...alertKinds.flatMap((kind) => {
      const [means, when, silenced] = about[kind];
      return [
        `## \`${kind}\``,
        means,
        [
          `- **Raised:** ${when}${dayKinds.includes(kind) ? ' Judged every 20 minutes.' : ''}`,
          ...(silenced === '' ? [] : [`- **Not raised, or ended, by:** ${silenced}.`]),
          `- **Do:** ${advice[kind]}`,
        ].join('\n'),
      ];
    }),
  ].join('\n\n')}\n`;

if (import.meta.main) writeFileSync(alertsFile, alertsText());
