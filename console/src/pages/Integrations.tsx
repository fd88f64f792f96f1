import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import type { Integration } from '../api/types.ts';
import { Ago, Card, Empty, Head, Loaded, State } from '../parts/basics.tsx';
import { Spark } from '../parts/charts.tsx';
import { number, plural } from '../parts/format.ts';
import { useMay } from '../shell/session.ts';

export function Integrations() {
  const every = useEvery(5);
  const admin = useMay('admin');
  const query = useQuery({
    queryKey: ['integrations', 'list'],
    queryFn: ({ signal }) => get<{ items: Integration[] }>('/integrations', undefined, signal),
    refetchInterval: every,
  });
  return (
    <>
      <Head title="Integrations" lead="Each brand: how it is fed, how it is doing, and what waits to leave.">
        {admin && (
          <Button component={Link} to="/onboard">
            Connect a brand
          </Button>
        )}
      </Head>
      <Loaded query={query}>
        {({ items }) => (
          <Card flush>
            {items.length === 0 ? (
              <Empty title="No brand is connected" action={<Link to="/onboard">Connect the first one</Link>}>
                Or put an integration document into the workspace and apply it.
              </Empty>
            ) : (
              <div className="table-wrap">
                <table className="list folds">
                  <thead>
                    <tr>
                      <th scope="col">Brand</th>
                      <th scope="col">State</th>
                      <th scope="col">Last three hours</th>
                      <th scope="col">Last run</th>
                      <th scope="col">Last event</th>
                      <th scope="col" className="right">
                        Waiting
                      </th>
                      <th scope="col" className="right">
                        Dead letters
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((item) => (
                      <Row key={item.name} item={item} />
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </Card>
        )}
      </Loaded>
    </>
  );
}

function Row({ item }: { item: Integration }) {
  const waiting = item.lanes.reduce((sum, lane) => sum + lane.waiting, 0);
  const changes = item.sparkline.map((point) => point.changes + point.events);
  return (
    <tr>
      <td>
        <Link to="/integrations/$name" params={{ name: item.name }} className="name">
          {item.name}
        </Link>
        <div className="muted small">
          {item.brand_id} · {item.connector} · {item.timezone}
        </div>
      </td>
      <td>
        <State of={item.state} />
        {item.running > 0 && <State of="running" label={plural(item.running, 'run')} />}
      </td>
      <td className="whole">
        <Spark
          values={changes}
          label={`${plural(
            changes.reduce((sum, one) => sum + one, 0),
            'change',
          )} in three hours`}
        />
      </td>
      <td data-label="Last run">
        <Ago at={item.last_run_at} none={item.pull ? 'not yet' : 'does not pull'} />
        {item.last_run_status && item.last_run_status !== 'complete' && (
          <div>
            <State of={item.last_run_status} />
          </div>
        )}
      </td>
      <td data-label="Last event">
        <Ago at={item.push.last_event_at} none={item.push.enabled ? 'not yet' : 'no push'} />
      </td>
      <td className="right" data-label="Waiting">
        {number(waiting)}
      </td>
      <td className="right" data-label="Dead letters">
        {item.open_dead_letters > 0 ? (
          <Link to="/dead-letters" search={{ integration: item.name }}>
            {number(item.open_dead_letters)}
          </Link>
        ) : (
          0
        )}
      </td>
    </tr>
  );
}
