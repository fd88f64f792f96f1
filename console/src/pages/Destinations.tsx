import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useEvery } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import type { Destination } from '../api/types.ts';
import { Card, Empty, Head, Loaded, meaning, Notice, RelativeTime, State } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { draining, type Seen, seenLately } from '../parts/draining.ts';
import { worst } from '../parts/faults.ts';
import { number, plural, span } from '../parts/format.ts';
import { BrandLink, RecordLink } from '../parts/links.tsx';
import { StartJob } from '../parts/StartJob.tsx';
import { Table } from '../parts/Table.tsx';
import { TryNow } from '../parts/TryNow.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';
import { Compared } from './Compared.tsx';

export function Destinations() {
  const query = useApi('destinations.list', {}, { everyMs: useEvery(5) });
  return (
    <>
      <Head
        title="Destinations"
        lead="Where changes go, in order per reservation, and what has not been delivered yet."
      />
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Card>
              <Empty title="No destination yet">
                Add a document under destinations/ and name it in a brand’s deliver list.
              </Empty>
            </Card>
          ) : (
            <div className="stack">
              <div className="split">
                {items
                  .filter(needsLook)
                  .toSorted(byUrgency)
                  .map((one) => (
                    <One key={one.name} destination={one} answeredAt={query.dataUpdatedAt} />
                  ))}
              </div>
              <Well items={items.filter((one) => !needsLook(one))} />
              <Undelivered first={firstState(items)} items={items} />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

const behindOf = ({ lanes }: Destination) => lanes.filter((one) => one.waiting + one.held > 0 || one.preview);

/** Something is wrong with it, or something waits. The others are a line each: many of them would push these off the screen. */
const needsLook = (one: Destination): boolean =>
  one.state !== 'healthy' ||
  one.circuit !== null ||
  one.refusing !== null ||
  one.paused_until !== null ||
  behindOf(one).length > 0;

const byUrgency = (a: Destination, b: Destination): number => worst[b.state] - worst[a.state];

function Well({ items }: { items: readonly Destination[] }) {
  if (items.length === 0) return null;
  return (
    <Card title="Nothing waits" flush>
      <Table
        label="Destinations for which nothing waits"
        rows={items}
        rowKey={({ name }) => name}
        find={({ name }) => name}
        columns={[
          {
            head: 'Destination',
            cell: (one) => (
              <>
                <DocumentLink of={one} />
                <div className="muted small">{typeOf(one)}</div>
              </>
            ),
          },
          { head: 'State', cell: ({ state }) => <State of={state} /> },
          { head: 'Brands', phone: 'line', cell: ({ lanes }) => listed(lanes.map(({ integration }) => integration)) },
          {
            head: 'Last delivery',
            phone: 'labelled',
            cell: ({ last_delivered_at: at }) => <RelativeTime at={at} none="none in the last day" />,
          },
          { head: 'Again', cell: (one) => <Resend destination={one} /> },
        ]}
      />
    </Card>
  );
}

const typeOf = ({ type, receives }: Destination): string => `${type}, receives ${receives.join(' and ')}`;

function DocumentLink({ of: { name } }: { of: Destination }) {
  if (!useSeesAllBrands()) return <strong>{name}</strong>;
  return (
    <Link to="/documents/$kind/$name" params={{ kind: 'destination', name }} className="title">
      {name}
    </Link>
  );
}

function Resend({ destination: { name, lanes } }: { destination: Destination }) {
  const operator = useMay('operator');
  const [isAsked, setIsAsked] = useState(false);
  if (!operator || lanes.length === 0) return null;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsAsked(true)}>
        Resend everything …
      </Button>
      {isAsked && (
        <StartJob
          request={{ operation: 'resend', destination: name }}
          lead="For a destination that is new or lost its data: the newest version of each record is sent again, with its original idempotency key."
          onClose={() => setIsAsked(false)}
        />
      )}
    </>
  );
}

/** A first fill, or what waited during an outage: how much, how fast, and how long. */
function Progress({ of, answeredAt }: { of: Destination; answeredAt: number }) {
  const [seen, setSeen] = useState<readonly Seen[]>([]);
  const waiting = of.lanes.reduce((sum, lane) => sum + lane.waiting, 0);
  useEffect(() => setSeen((before) => seenLately(before, { atMs: answeredAt, waiting })), [answeredAt, waiting]);
  const speed = draining(seen);
  if (speed === undefined) return null;
  return (
    <p className="muted">
      {plural(waiting, 'change')} left, {number(Math.max(1, Math.round(speed.perSecond)))} a second:{' '}
      {span(speed.leftMs)} more.
    </p>
  );
}

function One({ destination, answeredAt }: { destination: Destination; answeredAt: number }) {
  const all = useSeesAllBrands();
  const behind = behindOf(destination);
  const quiet = destination.lanes.filter((one) => !behind.includes(one));
  const failure = destination.lanes.find(({ last_failure }) => last_failure !== null)?.last_failure;
  return (
    <Card title={destination.name} aside={<State of={destination.state} />} flush>
      <div className="stack inset">
        <p className="muted">
          {typeOf(destination)}.{' '}
          {destination.last_delivered_at ? (
            <>
              Last delivery <RelativeTime at={destination.last_delivered_at} />.
            </>
          ) : (
            'No delivery in the last day.'
          )}{' '}
          {all && (
            <Link to="/documents/$kind/$name" params={{ kind: 'destination', name: destination.name }}>
              Document
            </Link>
          )}
        </p>
        <Progress of={destination} answeredAt={answeredAt} />
        <div>
          <Resend destination={destination} />
        </div>
        {destination.paused_until && (
          <Notice
            tone="warn"
            title={
              <>
                The destination asked us to wait. Deliveries resume <RelativeTime next at={destination.paused_until} />.
              </>
            }
          />
        )}
        {destination.circuit && (
          <Notice
            tone="bad"
            title={`${destination.circuit.refused ? 'It refuses our credentials' : 'Not available'}: ${destination.circuit.last_failure}`}
          >
            Since <RelativeTime at={destination.circuit.open_since} />. Deliveries wait; it is tried again{' '}
            <RelativeTime next at={destination.circuit.next_probe_at} />.{' '}
            {destination.circuit.refused &&
              'Replace the secret or correct the document: what waits is sent then, nothing has to be replayed.'}
          </Notice>
        )}
        {destination.refusing && (
          <Notice tone="bad" title={`It refuses all changes: ${destination.refusing.last_failure}`}>
            {plural(destination.refusing.records, 'change')} since <RelativeTime at={destination.refusing.since} />,
            none accepted; each is a dead letter. Once the cause is corrected, trying again sends them all.
          </Notice>
        )}
        {(destination.circuit || destination.refusing || destination.paused_until || failure) && (
          <div>
            <TryNow action="try_destination" of={destination.name} />
          </div>
        )}
        {failure && !destination.circuit && !destination.refusing && !destination.paused_until && (
          <Notice tone={destination.state === 'failing' ? 'bad' : 'warn'} title={failure}>
            Last failed attempt <RelativeTime at={destination.last_failed_at} />.
          </Notice>
        )}
      </div>
      <Compared destination={destination.name} />
      {quiet.length > 0 && (
        <p className="inset muted small">Nothing waits for {listed(quiet.map(({ integration }) => integration))}.</p>
      )}
      {behind.length > 0 && (
        <Table
          label={`Backlog of ${destination.name}`}
          narrow
          rows={behind.toSorted((a, b) => b.held + b.waiting - a.held - a.waiting)}
          rowKey={({ integration }) => integration}
          find={({ integration }) => integration}
          columns={[
            {
              head: 'Brand',
              cell: ({ integration, preview }) => (
                <span className="row">
                  <BrandLink name={integration} lead />
                  {preview && <State of="paused" label="In preview" />}
                </span>
              ),
            },
            { head: 'Waiting', kind: 'number', cell: ({ waiting }) => number(waiting) },
            { head: 'Retrying', kind: 'number', cell: ({ retrying }) => number(retrying) },
            {
              head: 'Blocked',
              kind: 'number',
              cell: ({ integration, held: count }) =>
                count > 0 ? (
                  <Link to="/dead-letters" search={{ integration, destination: destination.name }}>
                    {number(count)}
                  </Link>
                ) : (
                  0
                ),
            },
            {
              head: 'Oldest',
              kind: 'number',
              cell: ({ late_ms }) => (late_ms === null || late_ms < 1_000 ? '–' : span(late_ms)),
            },
          ]}
        />
      )}
    </Card>
  );
}

/** Some names, and how many others. */
const listed = (names: readonly string[]): string =>
  names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${number(names.length - 3)} others` : names.join(', ');

const states = { waiting: 'Waiting', retrying: 'Retrying', held: 'Blocked' } as const;
type DeliveryState = keyof typeof states;

/** The state to show first: one that has deliveries, so that an empty list means that there are none. */
function firstState(destinations: readonly Destination[]): DeliveryState {
  const lanes = destinations.flatMap((one) => one.lanes);
  return (
    (['retrying', 'held', 'waiting'] as const).find((state) => lanes.some((lane) => lane[state] > 0)) ?? 'retrying'
  );
}

const untilThen = {
  release: 'when it is released',
  document: 'when its document no longer pauses it',
  worker: 'when a worker runs',
} as const;

function Undelivered({ first, items }: { first: DeliveryState; items: readonly Destination[] }) {
  const away = items.filter(({ circuit }) => circuit !== null).map(({ name }) => name);
  const [chosen, setState] = useState<DeliveryState>();
  const state = chosen ?? first;
  const query = useApi('deliveries.list', { state, limit: 50 }, { everyMs: useEvery(5), keep: true });
  return (
    <Card
      title="Not delivered yet"
      aside={<Choice small label="Which deliveries" options={states} value={state} onChange={setState} />}
      flush
    >
      <Table
        label="Undelivered changes"
        rows={query.data?.items}
        error={query.error}
        rowKey={({ integration, destination, id }) => `${integration} ${destination} ${id}`}
        empty={<Empty title={`No delivery is ${state} now`} />}
        columns={[
          {
            head: 'Record',
            cell: ({ integration, type, id }) => (
              <>
                <RecordLink integration={integration} type={type} id={id} lead />
                <div className="muted small">{integration}</div>
              </>
            ),
          },
          { head: 'Destination', cell: ({ destination }) => destination },
          {
            head: 'Last answer',
            phone: 'line',
            cell: ({ last_message, last_code }) =>
              last_message ?? (last_code ? meaning(last_code)?.what : 'not tried yet'),
          },
          {
            head: 'Next attempt',
            phone: 'labelled',
            cell: ({ held_by, due_at, waits_for, destination }) => {
              if (held_by)
                return (
                  <Button size="compact-xs" variant="default" component={Link} to={`/dead-letters/${held_by}`}>
                    Dead letter
                  </Button>
                );
              if (waits_for) return untilThen[waits_for];
              if (away.includes(destination)) return 'when it accepts something again';
              return <RelativeTime next at={due_at} none="–" />;
            },
          },
        ]}
      />
    </Card>
  );
}
