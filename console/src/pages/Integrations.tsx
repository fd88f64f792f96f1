import { Button, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useEvery } from '../api/live.ts';
import { useApi, usePages } from '../api/query.tsx';
import type { Group, Integration } from '../api/types.ts';
import { BrandState } from '../parts/BrandState.tsx';
import { Card, Empty, Head, RelativeTime, State } from '../parts/basics.tsx';
import { Spark } from '../parts/charts.tsx';
import { number, plural, words } from '../parts/format.ts';
import { BrandLink } from '../parts/links.tsx';
import { lastThreeHours } from '../parts/steps.ts';
import { Table } from '../parts/Table.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';

type Order = (item: Integration) => string | number;

const waitingOf = ({ lanes }: Integration): number => lanes.reduce((sum, lane) => sum + lane.waiting, 0);

export function Integrations() {
  const all = useSeesAllBrands();
  const admin = useMay('admin') && all;
  const [q, setQ] = useState('');
  const [group, setGroup] = useState('');
  const groups = useApi('groups.list', {}, { everyMs: useEvery(15) }).data?.items ?? [];
  const shown = q === '' ? { group } : { q };
  const { rows, error, more } = usePages('integrations.list', { limit: 100, ...shown }, useEvery(5));
  // Sorting a part of the list would look like sorting all of it.
  const sort = (by: Order) => (more ? {} : { sortBy: by });
  return (
    <>
      <Head title="Integrations" lead="Every connected brand: its state, its feeds, and what is waiting for delivery.">
        {admin && (
          <Button component={Link} to="/onboard">
            Connect a brand
          </Button>
        )}
      </Head>
      {group === '' && q === '' && groups.length > 0 && <Groups groups={groups} onOpen={setGroup} />}
      {group !== '' && q === '' && (
        <Button variant="default" size="xs" onClick={() => setGroup('')}>
          All brands
        </Button>
      )}
      <Card flush {...(group !== '' && q === '' && { title: `Group ${group}` })}>
        {(more || q !== '' || groups.length > 0) && (
          <div className="more">
            <TextInput
              label="Find by name or brand id"
              value={q}
              onChange={(event) => setQ(event.currentTarget.value.trim())}
            />
          </div>
        )}
        <Table
          label="Integrations"
          rows={rows}
          error={error}
          rowKey={({ name }) => name}
          empty={
            q !== '' ? (
              <Empty title="No brand contains this text" />
            ) : groups.length > 0 ? (
              <Empty title="There are only groups" small />
            ) : (
              <Empty title="No brand is connected" action={admin && <Link to="/onboard">Connect the first one</Link>}>
                Or add an integration document to the workspace and apply it.
              </Empty>
            )
          }
          columns={[
            { head: 'Brand', ...sort(({ name }) => name), cell: (item) => <Name item={item} /> },
            {
              head: 'State',
              ...sort(({ state }) => state),
              cell: (item) => (
                <span className="row">
                  <BrandState brand={item} />
                  {item.running > 0 && <State of="running" label={plural(item.running, 'run')} />}
                </span>
              ),
            },
            { head: 'Last three hours', phone: 'line', cell: (item) => <Activity item={item} /> },
            {
              head: 'Last run',
              phone: 'labelled',
              cell: (item) => (
                <>
                  <RelativeTime
                    at={item.last_run_at}
                    none={!item.pull ? 'does not pull' : item.running > 0 ? 'in progress' : 'not yet'}
                  />
                  {item.last_run_status && item.last_run_status !== 'complete' && (
                    <div>
                      <State of={item.last_run_status} />
                    </div>
                  )}
                </>
              ),
            },
            {
              head: 'Last event',
              phone: 'labelled',
              cell: ({ push, stream }) => (
                <RelativeTime at={push.last_event_at} none={push.enabled || stream ? 'not yet' : 'no push'} />
              ),
            },
            { head: 'Waiting', kind: 'number', ...sort(waitingOf), cell: (item) => number(waitingOf(item)) },
            {
              head: 'Dead letters',
              kind: 'number',
              ...sort(({ open_dead_letters }) => open_dead_letters),
              cell: ({ name, open_dead_letters }) =>
                open_dead_letters > 0 ? (
                  <Link to="/dead-letters" search={{ integration: name }}>
                    {number(open_dead_letters)}
                  </Link>
                ) : (
                  0
                ),
            },
          ]}
        />
        {more}
      </Card>
    </>
  );
}

/** Brands of one system, listed together in one file, are one line until somebody opens it. */
function Groups({ groups, onOpen }: { groups: readonly Group[]; onOpen: (group: string) => void }) {
  return (
    <Card flush title="Groups">
      <Table
        label="Groups"
        rows={groups}
        rowKey={({ group }) => group}
        columns={[
          {
            head: 'Group',
            cell: ({ group, brands }) => (
              <Button variant="subtle" size="compact-sm" onClick={() => onOpen(group)}>
                {group}: {plural(brands, 'brand')}
              </Button>
            ),
          },
          {
            head: 'States',
            cell: ({ states }) =>
              Object.entries(states).map(([state, count]) => (
                <State key={state} of={state} label={`${number(count)} ${words(state)}`} />
              )),
          },
          { head: 'Waiting', kind: 'number', cell: ({ waiting }) => number(waiting) },
          { head: 'Dead letters', kind: 'number', cell: ({ open_dead_letters }) => number(open_dead_letters) },
        ]}
      />
    </Card>
  );
}

function Name({ item }: { item: Integration }) {
  return (
    <>
      <BrandLink name={item.name} lead />
      <div className="muted small">
        {item.brand_id} · {item.connector} · {item.timezone}
      </div>
    </>
  );
}

function Activity({ item }: { item: Integration }) {
  const counts = lastThreeHours(item.sparkline, ['changes', 'events']);
  const total = counts.reduce((sum, one) => sum + one, 0);
  if (total === 0) return <span className="muted small">nothing</span>;
  return <Spark values={counts} label={`${plural(total, 'change and event', 'changes and events')} in three hours`} />;
}
