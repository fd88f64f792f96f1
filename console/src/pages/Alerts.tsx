import { Button, SegmentedControl } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { part, post } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import type { Alert } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { Ago, Card, Empty, Head, Loaded, State } from '../parts/basics.tsx';
import { capital, words } from '../parts/format.ts';
import { usePages } from '../parts/paging.tsx';
import { useMay } from '../shell/session.ts';

export function Alerts() {
  const [state, setState] = useState('open');
  const operator = useMay('operator');
  const { query, all, more } = usePages<Alert>('alerts', '/alerts', { state, limit: 50 }, useEvery(5));
  const acknowledge = useAct(
    (id: string) => post(`/alerts/${part(id)}/acknowledge`),
    () => 'Acknowledged. It resolves by itself when its cause is gone.',
  );
  return (
    <>
      <Head
        title="Alerts"
        lead="A silent feed, an incomplete run, an open breaker, refused credentials, a growing pile. They resolve by themselves."
      >
        <SegmentedControl
          size="xs"
          value={state}
          onChange={setState}
          data={[
            { value: 'open', label: 'Open' },
            { value: 'all', label: 'All' },
          ]}
          aria-label="Which alerts"
        />
      </Head>
      <Loaded query={query}>
        {() => (
          <Card flush>
            {all.length === 0 ? (
              <Empty title="No alert is open">Every feed does what it usually does at this hour.</Empty>
            ) : (
              <table className="list folds">
                <thead>
                  <tr>
                    <th scope="col">Alert</th>
                    <th scope="col">Severity</th>
                    <th scope="col">Raised</th>
                    <th scope="col">State</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((alert) => (
                    <tr key={alert.alert_id}>
                      <td className="whole">
                        <strong>{capital(words(alert.kind))}</strong>{' '}
                        {alert.integration && (
                          <Link to="/integrations/$name" params={{ name: alert.integration }}>
                            {alert.integration}
                          </Link>
                        )}
                        <div>{alert.message}</div>
                      </td>
                      <td>
                        <State of={alert.severity} />
                      </td>
                      <td>
                        <Ago at={alert.raised_at} />
                      </td>
                      <td>
                        {alert.resolved_at ? (
                          <>
                            <State of="done" label="Resolved" /> <Ago at={alert.resolved_at} />
                          </>
                        ) : alert.acknowledged_at ? (
                          <State of="calm" label={`Seen by ${alert.acknowledged_by}`} />
                        ) : operator ? (
                          <Button
                            size="compact-sm"
                            variant="default"
                            aria-label={`Acknowledge ${words(alert.kind)} ${alert.integration}`}
                            onClick={() => acknowledge.mutate(alert.alert_id)}
                            loading={acknowledge.isPending}
                          >
                            Acknowledge
                          </Button>
                        ) : (
                          <State of="open" />
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            {more}
          </Card>
        )}
      </Loaded>
    </>
  );
}
