import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Entry, Timeline } from '../api/types.ts';
import { withOwnWords } from '../parts/answer.ts';
import { meaning, State, type Tone } from '../parts/basics.tsx';
import { DiffTable, JsonText, Notes } from '../parts/data.tsx';
import { capital, causeOf, clockOf, destinationName, instant, plural, span, words } from '../parts/format.ts';
import { type Attempt, type Letter, tickOf } from '../parts/ticks.ts';

type Received = Extract<Entry, { what: 'received' }>;

const made: ReadonlySet<string> = new Set(['created', 'updated', 'cancelled', 'erased', 'removed']);

/**
 * The history of one record: one card for each version, with a tick for each destination. What made no version, and deliveries of
 * versions that are not on the page, are lines of their own.
 */
export function Ledger({ story }: { story: Timeline }) {
  const befores = receivedBefore(story);
  const versions = new Set(story.timeline.flatMap((entry) => versionMadeBy(entry) ?? []));
  const isFolded = (entry: Entry) =>
    (entry.what === 'delivery' || (entry.what === 'dead_letter' && entry.destination !== undefined)) &&
    entry.version !== undefined &&
    versions.has(entry.version);
  return (
    <ol className="ledger">
      {story.timeline
        .map((entry, index) => ({ entry, before: befores[index], key: story.timeline.length - index }))
        .filter(({ entry }) => !isFolded(entry))
        .toReversed()
        .map(({ entry, before, key }) => (
          <Line key={key} entry={entry} before={before} story={story} />
        ))}
    </ol>
  );
}

const versionMadeBy = (entry: Entry): number | undefined =>
  entry.what === 'received' && made.has(entry.outcome) ? entry.version : undefined;

interface LineProps {
  readonly entry: Entry;
  /** What was received before it. */
  readonly before: Received | undefined;
  readonly story: Timeline;
}

/** Where a version is: one line for each destination. */
function Ticks({ version, story }: { version: number; story: Timeline }) {
  const lanes = story.deliveries.filter(({ destination }) => !destination.startsWith('innbound:'));
  if (lanes.length === 0) return null;
  return (
    <ul className="ticks">
      {lanes.map((lane) => {
        const mine = (entry: Entry) =>
          'destination' in entry && entry.destination === lane.destination && entry.version === version;
        const attempts = story.timeline.filter((one): one is Attempt => one.what === 'delivery' && mine(one));
        const letter = story.timeline.find(
          (one): one is Letter => one.what === 'dead_letter' && one.state === 'open' && mine(one),
        );
        const { tone, mark, text } = tickOf(lane, version, attempts, letter);
        const failed = attempts.filter(({ outcome }) => outcome === 'retry' || outcome === 'dead');
        return (
          <li key={lane.destination} data-tone={tone}>
            <span aria-hidden="true">{mark}</span> <strong>{lane.destination}</strong> {text}
            {letter && (
              <>
                {' '}
                <Link to="/dead-letters/$id" params={{ id: letter.dead_letter_id }}>
                  Dead letter
                </Link>
              </>
            )}
            {failed.length > 0 && (
              <details className="fold">
                <summary>{plural(failed.length, 'failed attempt')}</summary>
                {failed.map((one) => (
                  <div key={`${one.at} ${one.attempt}`} className="small">
                    {clockOf(one.at)} {one.status && `HTTP ${one.status}. `}
                    {one.message ?? (one.code && meaning(one.code)?.what)}
                  </div>
                ))}
              </details>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Line(props: LineProps) {
  const { entry } = props;
  const { tone, title, body } = described(props);
  return (
    <li data-tone={tone}>
      <time className="when" dateTime={entry.at} title={instant(entry.at)}>
        {clockOf(entry.at)}
      </time>
      <span className="dot">
        <i />
      </span>
      <div className="what">
        <div className="title">{title}</div>
        {body}
      </div>
    </li>
  );
}

function described({ entry, before, story }: LineProps): { tone: Tone; title: ReactNode; body?: ReactNode } {
  switch (entry.what) {
    case 'received':
      return {
        tone: receivedTone[entry.outcome] ?? 'calm',
        title: receivedTitle(entry, before),
        body: (
          <>
            {versionMadeBy(entry) !== undefined && <Ticks version={entry.version ?? 0} story={story} />}
            <ReceivedBody entry={entry} story={story} />
          </>
        ),
      };
    case 'delivery': {
      const good = entry.outcome === 'delivered';
      const took = entry.duration_ms === undefined ? '' : ` in ${span(entry.duration_ms)}`;
      return {
        tone: good ? 'good' : entry.outcome === 'dead' ? 'bad' : 'warn',
        title: good
          ? `Version ${entry.version} ${entry.code === 'removed' ? 'removed from' : 'delivered to'} ${destinationName(entry.destination)}${took}`
          : `${capital(words(entry.outcome))}: version ${entry.version} to ${destinationName(entry.destination)}, attempt ${entry.attempt}`,
        body: !good && (
          <p className="small">
            {entry.status && `HTTP ${entry.status}. `}
            {entry.message ?? (entry.code && meaning(entry.code)?.what)} {entry.code && <code>{entry.code}</code>}
          </p>
        ),
      };
    }
    case 'dead_letter':
      return {
        tone: entry.state === 'open' ? 'bad' : 'calm',
        title: (
          <>
            <Link to="/dead-letters/$id" params={{ id: entry.dead_letter_id }}>
              Dead letter {entry.dead_letter_id}
            </Link>
            {entry.destination && ` for ${destinationName(entry.destination)}`} <State of={entry.state} />
          </>
        ),
        body: (
          <p className="small">
            {withOwnWords(entry.message, entry.answer)} {entry.closed_reason && `Closed: ${entry.closed_reason}`}
          </p>
        ),
      };
    case 'seen_unchanged':
      return {
        tone: 'calm',
        title: `Seen unchanged by ${plural(entry.times, 'pull')}`,
        body: <p className="small muted">No change, so nothing was sent.</p>,
      };
  }
}

const receivedTone: Record<string, Tone> = {
  created: 'accent',
  updated: 'accent',
  cancelled: 'warn',
  erased: 'bad',
  removed: 'warn',
  held: 'warn',
  dead: 'bad',
};

/** For each entry the last one before it that was received. */
function receivedBefore({ timeline }: Timeline): (Received | undefined)[] {
  let last: Received | undefined;
  return timeline.map((entry) => {
    const before = last;
    if (entry.what === 'received') last = entry;
    return before;
  });
}

/** Which document made the difference, if the partner sent the same data as before under another version. */
function changedDocument(entry: Received, before: Received | undefined): string | undefined {
  if (before?.raw === undefined || JSON.stringify(before.raw) !== JSON.stringify(entry.raw)) return undefined;
  if (before.connector_version !== entry.connector_version) {
    return `because the connector changed to version ${entry.connector_version}`;
  }
  if (before.integration_version === entry.integration_version) return undefined;
  return `because the integration changed to version ${entry.integration_version}`;
}

function receivedTitle(entry: Received, before: Received | undefined): ReactNode {
  const document = entry.outcome === 'updated' ? changedDocument(entry, before) : undefined;
  const how = document === undefined ? causeOf(entry.cause) : `${document}, seen ${causeOf(entry.cause)}`;
  return (
    <>
      {entry.outcome === 'held' ? 'Values held back' : capital(words(entry.outcome))}
      {versionMadeBy(entry) !== undefined && ` as version ${entry.version}`},{' '}
      {entry.cause === 'run' && entry.cause_id ? (
        <Link to="/runs/$id" params={{ id: entry.cause_id }}>
          {how}
        </Link>
      ) : (
        how
      )}
    </>
  );
}

function ReceivedBody({ entry, story }: { entry: Received; story: Timeline }) {
  const diff = entry.diff ?? [];
  const notes = entry.notes ?? [];
  const renamed = Object.entries(entry.origins ?? {}).filter(([to, from]) => to !== from);
  return (
    <>
      {entry.reason && <p className="small">{entry.reason}</p>}
      {diff.length > 0 && <DiffTable diff={diff} />}
      {notes.length > 0 && (
        <details className="fold">
          <summary>{plural(notes.length, 'value')} cleaned or derived</summary>
          <Notes notes={notes} />
        </details>
      )}
      {entry.raw !== undefined && (
        <details className="fold">
          <summary>Payload</summary>
          <div className="stack">
            <JsonText value={entry.raw} label={`Payload of ${entry.at}`} />
            {renamed.length > 0 && (
              <p className="small muted">
                {renamed.map(([to, from]) => `${to} from ${from}`).join(', ')}. Connector v{entry.connector_version},
                integration v{entry.integration_version} of {story.integration}.
              </p>
            )}
          </div>
        </details>
      )}
    </>
  );
}
