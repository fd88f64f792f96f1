import { Button, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import type { Delivery, Destination } from '../api/types.ts';
import { Ago, Card, Empty, Head, Loaded, meaning, Notice, State } from '../parts/basics.tsx';
import { number, span } from '../parts/format.ts';

export function Destinations() {
  const every = useEvery(5);
  const query = useQuery({
    queryKey: ['deliveries', 'destinations'],
    queryFn: ({ signal }) => get<{ items: Destination[] }>('/destinations', undefined, signal),
    refetchInterval: every,
  });
  return (
    <>
      <Head
        title="Destinations"
        lead="Where changes go, in order for each booking, and what has not arrived there yet."
      />
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Card>
              <Empty title="No destination yet">A document in destinations/ names one; brands deliver to it.</Empty>
            </Card>
          ) : (
            <div className="stack">
              <div className="split">
                {items.map((one) => (
                  <One key={one.name} destination={one} />
                ))}
              </div>
              <Undelivered />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function One({ destination }: { destination: Destination }) {
  const failing =
    destination.last_failed_at !== null && destination.last_failed_at > (destination.last_delivered_at ?? '');
  const held = destination.lanes.some((lane) => lane.held > 0);
  const state = destination.paused ? 'paused' : failing ? 'failing' : held ? 'attention' : 'healthy';
  return (
    <Card title={destination.name} aside={<State of={state} />} flush>
      <p className="muted" style={{ padding: '0 16px 10px' }}>
        {destination.type}, receives {destination.receives.join(' and ')}. Last delivered{' '}
        <Ago at={destination.last_delivered_at} />.{' '}
        <Link to="/documents/$kind/$name" params={{ kind: 'destination', name: destination.name }}>
          Document
        </Link>
      </p>
      {destination.paused_until && (
        <div style={{ padding: '0 16px 10px' }}>
          <Notice
            tone="warn"
            title={
              <>
                It asked us to wait; we go on <Ago at={destination.paused_until} />.
              </>
            }
          />
        </div>
      )}
      {failing && destination.last_failure && (
        <div style={{ padding: '0 16px 10px' }}>
          <Notice tone="bad" title={destination.last_failure}>
            <Ago at={destination.last_failed_at} />
          </Notice>
        </div>
      )}
      <table className="list">
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col" className="right">
              Waiting
            </th>
            <th scope="col" className="right">
              Held back
            </th>
            <th scope="col" className="right">
              Behind
            </th>
          </tr>
        </thead>
        <tbody>
          {destination.lanes.map(({ integration, waiting, held, late_ms }) => (
            <tr key={integration}>
              <td>
                <Link to="/integrations/$name" params={{ name: integration }} className="name">
                  {integration}
                </Link>
              </td>
              <td className="right">{number(waiting)}</td>
              <td className="right">
                {held > 0 ? (
                  <Link to="/dead-letters" search={{ integration, destination: destination.name }}>
                    {number(held)}
                  </Link>
                ) : (
                  0
                )}
              </td>
              <td className="right">{late_ms === null || late_ms < 1_000 ? 'no' : span(late_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Undelivered() {
  const [state, setState] = useState('retrying');
  const every = useEvery(5);
  const query = useQuery({
    queryKey: ['deliveries', 'list', state],
    queryFn: ({ signal }) => get<{ items: Delivery[] }>('/deliveries', { state, limit: 50 }, signal),
    refetchInterval: every,
    placeholderData: (before) => before,
  });
  return (
    <Card
      title="Not delivered yet"
      aside={
        <SegmentedControl
          size="xs"
          value={state}
          onChange={setState}
          data={[
            { value: 'waiting', label: 'Waiting' },
            { value: 'retrying', label: 'Trying again' },
            { value: 'held', label: 'Held back' },
          ]}
          aria-label="Which deliveries"
        />
      }
      flush
    >
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="None">Nothing is {state === 'held' ? 'held back' : state} now.</Empty>
          ) : (
            <table className="list folds">
              <thead>
                <tr>
                  <th scope="col">Booking</th>
                  <th scope="col">To</th>
                  <th scope="col">Last answer</th>
                  <th scope="col">Next try</th>
                </tr>
              </thead>
              <tbody>
                {items.map((one) => (
                  <tr key={`${one.integration} ${one.destination} ${one.id}`}>
                    <td>
                      <Link
                        to="/reservations/$name/$type/$id"
                        params={{ name: one.integration, type: `${one.type}s`, id: one.id }}
                        className="name"
                      >
                        {one.id}
                      </Link>
                      <div className="muted small">{one.integration}</div>
                    </td>
                    <td>{one.destination}</td>
                    <td className="whole">
                      {one.last_message ?? (one.last_code ? meaning(one.last_code)?.what : 'not tried yet')}
                    </td>
                    <td>
                      {one.held_by ? (
                        <Button
                          size="compact-xs"
                          variant="default"
                          component={Link}
                          to={`/dead-letters/${one.held_by}`}
                        >
                          Dead letter
                        </Button>
                      ) : (
                        <Ago at={one.due_at} none="–" />
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </Card>
  );
}
