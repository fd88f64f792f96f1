import { Button, CopyButton, TextInput } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useApi } from '../api/query.tsx';
import { Card, Empty, Head, Loaded, type Reading, State } from '../parts/basics.tsx';
import { nightOf } from '../parts/claims.ts';
import { clockOf, instant, span, zone } from '../parts/format.ts';
import { type Entry, entriesOf } from '../parts/story.ts';
import { useMay } from '../shell/session.ts';

const route = getRouteApi('/console/night');
/** From six in the evening to eight in the morning, in the browser's time zone. */
function nightBefore(morning: string): { from: Date; to: Date } {
  const to = new Date(`${morning}T08:00:00`);
  const from = new Date(`${morning}T18:00:00`);
  from.setDate(from.getDate() - 1);
  return { from, to };
}

const dayOf = (at: Date): string =>
  [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, '0')).join('-');

/** The story of a night on one time line, to print or to send. */
export function Night() {
  const { day = dayOf(new Date()) } = route.useSearch();
  const navigate = route.useNavigate();
  const { from, to } = nightBefore(day);
  const story = useStory(from, to);
  const title = `The night to ${day}`;
  return (
    <>
      <Head title={title} lead={`${instant(from.toISOString())} to ${instant(to.toISOString())}, times in ${zone}.`}>
        <TextInput
          type="date"
          aria-label="Morning after the night"
          value={day}
          max={dayOf(new Date())}
          onChange={(event) => void navigate({ search: { day: event.currentTarget.value || undefined } })}
        />
        <Button variant="default" onClick={() => print()}>
          Print
        </Button>
        {story.data && (
          <CopyButton value={asText(title, story.data)}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy as text'}
              </Button>
            )}
          </CopyButton>
        )}
      </Head>
      <Loaded query={story}>
        {({ entries, summary }) => (
          <div className="stack">
            <p className="story">{summary}</p>
            <Card title="Time line" aside="incidents, holds, changes by people, nodes">
              {entries.length === 0 ? (
                <Empty small title="No incident, no hold, no change by a person" />
              ) : (
                <ol className="ledger">
                  {entries.map((entry) => (
                    <Line key={`${entry.at} ${entry.kind} ${entry.title} ${entry.text}`} entry={entry} />
                  ))}
                </ol>
              )}
            </Card>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Line({ entry }: { entry: Entry }) {
  const { at, until, kind, severity, text, id } = entry;
  const tone = severity === 'critical' ? 'bad' : severity === 'warning' ? 'warn' : 'calm';
  const lasted = until !== null ? `for ${span(Date.parse(until) - Date.parse(at))}` : 'still open';
  return (
    <li data-tone={tone}>
      <time className="when" dateTime={at} title={instant(at)}>
        {clockOf(at)}
      </time>
      <span className="dot">
        <i />
      </span>
      <div className="what">
        <div className="title">
          {id === null ? (
            entry.title
          ) : (
            <Link to={kind === 'hold' ? '/holds/$id' : '/incidents/$id'} params={{ id }}>
              {entry.title}
            </Link>
          )}{' '}
          {severity && <State of={severity} label={lasted} />}
        </div>
        <p className="small">{text}</p>
      </div>
    </li>
  );
}

interface Story {
  readonly entries: readonly Entry[];
  readonly summary: string;
}

/** What the API tells of the time, once all of it is there. */
function useStory(from: Date, to: Date): Reading<Story> {
  const between = { from: from.toISOString(), to: to.toISOString() };
  const stale = { staleMs: 30_000 };
  const incidents = useApi('incidents.list', { ...between, state: 'all', limit: 200 }, stale);
  const holds = useApi('holds.list', {}, stale);
  const marks = useApi('overview.marks', between, { ...stale, enabled: useMay('operator') });
  const overview = useApi('overview.get', { period: '15m' }, stale);
  const flow = useApi('overview.flow', between, stale);
  const error = incidents.error ?? holds.error ?? overview.error ?? flow.error;
  if (!incidents.data || !holds.data || !overview.data || !flow.data) return { data: undefined, error };
  const entries = entriesOf(
    {
      incidents: incidents.data.items,
      holds: holds.data.items,
      marks: marks.data?.items ?? [],
      nodes: overview.data.nodes,
    },
    from,
    to,
  );
  return { data: { entries, summary: nightOf({ entries, flow: flow.data }).text }, error };
}

const asText = (title: string, { entries, summary }: Story): string =>
  [
    title,
    summary,
    ...entries.map((entry) => `${clockOf(entry.at)}  ${entry.title}${entry.severity ? `: ${entry.text}` : ''}`),
    location.href,
  ].join('\n');
