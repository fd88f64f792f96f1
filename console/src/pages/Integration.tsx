import { Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { get, part, post } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import type { IntegrationDetail, Page, Run, SyncType } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { Ago, Card, Empty, Head, Loaded, Notice, State } from '../parts/basics.tsx';
import { Spark } from '../parts/charts.tsx';
import { number, syncName } from '../parts/format.ts';
import { RunTable } from '../parts/Runs.tsx';
import { useMay } from '../shell/session.ts';
import { Backfill } from './Backfill.tsx';
import { ConsentCard } from './ConsentCard.tsx';
import { EndpointCard } from './EndpointCard.tsx';
import { SandboxCard } from './SandboxCard.tsx';

const route = getRouteApi('/desk/integrations/$name');

export function Integration() {
  const { name } = route.useParams();
  const every = useEvery(5);
  const query = useQuery({
    queryKey: ['integrations', name],
    queryFn: ({ signal }) => get<IntegrationDetail>(`/integrations/${part(name)}`, { hours: 3 }, signal),
    refetchInterval: every,
  });
  return (
    <Loaded query={query} head={<Head title={name} crumb={<Link to="/integrations">Integrations</Link>} />}>
      {(brand) => (
        <>
          <Head
            title={name}
            crumb={<Link to="/integrations">Integrations</Link>}
            lead={
              <span className="row">
                <State of={brand.state} />
                <span>
                  {brand.brand_id} · connector{' '}
                  <Link to="/studio" search={{ connector: brand.connector }}>
                    {brand.connector}
                  </Link>{' '}
                  v{brand.connector_version} · {brand.timezone}
                </span>
              </span>
            }
          >
            <Actions brand={brand} />
          </Head>
          <div className="stack">
            {brand.reasons.length > 0 && (
              <Notice
                tone={brand.state === 'attention' || brand.state === 'paused' ? 'warn' : 'bad'}
                title="Why it needs a look"
              >
                {brand.reasons.join(' ')}
              </Notice>
            )}
            <div className="split">
              <Syncs brand={brand} />
              <Lanes brand={brand} />
            </div>
            {brand.consent !== null && <ConsentCard integration={name} />}
            {brand.push.enabled && <EndpointCard integration={name} />}
            {brand.push.enabled && <SandboxCard integration={name} />}
            {brand.drift.length > 0 && <Drift brand={brand} />}
            <RecentRuns name={name} />
          </div>
        </>
      )}
    </Loaded>
  );
}

function Actions({ brand }: { brand: IntegrationDetail }) {
  const operator = useMay('operator');
  const [backfill, setBackfill] = useState(false);
  const path = `/integrations/${part(brand.name)}`;
  const run = useAct(
    (sync: SyncType) => post<{ already_going: boolean }>(`${path}/runs`, { sync }),
    ({ already_going }, sync) =>
      already_going ? `${syncName(sync)} is already running.` : `${syncName(sync)} is queued and starts at once.`,
  );
  const pause = useAct(
    (on: boolean) => post(`${path}/${on ? 'pause' : 'resume'}`),
    (_, on) => (on ? 'Scheduled pulls are paused. Events are still taken.' : 'Pulling again.'),
  );
  if (!operator) return null;
  const stopped = brand.state === 'paused' || brand.state === 'auth_failed';
  return (
    <>
      {brand.pull && (
        <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
          <Menu.Target>
            <Button loading={run.isPending}>Run now</Button>
          </Menu.Target>
          <Menu.Dropdown>
            {brand.pull.syncs.map(({ sync }) => (
              <Menu.Item key={sync} onClick={() => run.mutate(sync)}>
                {syncName(sync)}
              </Menu.Item>
            ))}
            <Menu.Divider />
            <Menu.Item onClick={() => setBackfill(true)}>Backfill …</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {brand.pull && (
        <Button variant="default" loading={pause.isPending} onClick={() => pause.mutate(!stopped)}>
          {stopped ? 'Resume' : 'Pause pulling'}
        </Button>
      )}
      <Button variant="default" component={Link} to={`/documents/integration/${brand.name}`}>
        Edit document
      </Button>
      <Backfill name={brand.name} opened={backfill} onClose={() => setBackfill(false)} />
    </>
  );
}

function Syncs({ brand }: { brand: IntegrationDetail }) {
  return (
    <Card
      title="Pull"
      aside={
        <>
          last run <Ago at={brand.last_run_at} />
        </>
      }
      flush
    >
      {brand.pull === null ? (
        <Empty small title="This brand is not pulled">
          Its data comes by events alone.
        </Empty>
      ) : (
        <table className="list">
          <thead>
            <tr>
              <th scope="col">Sync</th>
              <th scope="col">Every</th>
              <th scope="col">Next</th>
            </tr>
          </thead>
          <tbody>
            {brand.pull.syncs.map(({ sync, every, next_at, skipped }) => (
              <tr key={sync}>
                <td>{syncName(sync)}</td>
                <td className="num">{every}</td>
                <td>
                  <Ago at={next_at} none="not planned" />
                  {skipped > 0 && <span className="muted small"> ({skipped} skipped: the one before still ran)</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function Lanes({ brand }: { brand: IntegrationDetail }) {
  return (
    <Card
      title="Deliveries"
      aside={<Spark values={brand.sparkline.map((point) => point.changes)} label="Changes of the last three hours" />}
      flush
    >
      <table className="list">
        <thead>
          <tr>
            <th scope="col">Destination</th>
            <th scope="col" className="right">
              Waiting
            </th>
            <th scope="col" className="right">
              Held back
            </th>
          </tr>
        </thead>
        <tbody>
          {brand.lanes.map(({ destination, waiting, held }) => (
            <tr key={destination}>
              <td>
                <Link to="/destinations" className="name">
                  {destination}
                </Link>
              </td>
              <td className="right">{number(waiting)}</td>
              <td className="right">
                {held > 0 ? (
                  <Link to="/dead-letters" search={{ integration: brand.name, destination }}>
                    {number(held)}
                  </Link>
                ) : (
                  0
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Drift({ brand }: { brand: IntegrationDetail }) {
  return (
    <Card title="Values nobody has mapped" aside="the partner sends them, no value map knows them" flush>
      <table className="list">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Value</th>
            <th scope="col" className="right">
              Times
            </th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {brand.drift.map(({ field, value, times, last_at }) => (
            <tr key={`${field} ${value}`}>
              <td className="mono">{field}</td>
              <td className="mono">{value}</td>
              <td className="right">{number(times)}</td>
              <td>
                <Ago at={last_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function RecentRuns({ name }: { name: string }) {
  const every = useEvery(3);
  const query = useQuery({
    queryKey: ['runs', 'of', name],
    queryFn: ({ signal }) => get<Page<Run>>('/runs', { integration: name, limit: 8 }, signal),
    refetchInterval: every,
  });
  return (
    <Card
      title="Last runs"
      aside={
        <Link to="/runs" search={{ integration: name }}>
          all runs
        </Link>
      }
      flush
    >
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? <Empty small title="No run yet" /> : <RunTable runs={items} brand={false} />
        }
      </Loaded>
    </Card>
  );
}
