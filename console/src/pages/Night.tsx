import { Button, CopyButton, TextInput } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Answer } from '../api/client.ts';
import { useApi } from '../api/query.tsx';
import { actionText } from '../parts/actions.ts';
import { Card, Empty, Head, Loaded, State } from '../parts/basics.tsx';
import { nightOf } from '../parts/claims.ts';
import { clockOf, instant, span, zone } from '../parts/format.ts';

const route = getRouteApi('/desk/night');
type Story = Answer<'story.get'>;
type Entry = Omit<Story['entries'][number], 'kind'> & { readonly kind: 'incident' | 'hold' | 'node' | 'action' };

/** Everything on one line of time. */
function entriesOf({ entries, actions }: Story): Entry[] {
  const changes = actions.map(
    (one): Entry => ({
      at: one.at,
      until: null,
      kind: 'action',
      severity: null,
      title: `${actionText(one)}, by ${one.actor}`,
      text: '',
      id: null,
    }),
  );
  return [...entries, ...changes].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

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
  const query = useApi('story.get', { from: from.toISOString(), to: to.toISOString() }, { staleMs: 30_000 });
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
        {query.data && (
          <CopyButton value={asText(title, query.data)}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy as text'}
              </Button>
            )}
          </CopyButton>
        )}
      </Head>
      <Loaded query={query}>
        {(story) => (
          <div className="stack">
            <p className="story">{nightOf(story).text}</p>
            <Card title="In order" aside="incidents, holds, changes by people, nodes">
              {entriesOf(story).length === 0 ? (
                <Empty small title="No incident, no hold, no change by a person" />
              ) : (
                <ol className="ledger">
                  {entriesOf(story).map((entry) => (
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

const asText = (title: string, story: Story): string =>
  [
    title,
    nightOf(story).text,
    ...story.entries.map((entry) => `${clockOf(entry.at)}  ${entry.title}${entry.severity ? `: ${entry.text}` : ''}`),
    location.href,
  ].join('\n');
