import { Button } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import { useAct, useApi, usePages } from '../api/query.tsx';
import type { Alert } from '../api/types.ts';
import { Card, Empty, RelativeTime, State } from '../parts/basics.tsx';
import { alertWords, capital } from '../parts/format.ts';
import { BrandLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { useMay } from '../shell/session.ts';
import { History, historyOf } from './FeedCard.tsx';
import { HoldsCard } from './HoldsCard.tsx';
import { OpenOrAll, type Which } from './OpenOrAll.tsx';

export function Alerts() {
  const [state, setState] = useState<Which>('open');
  const list = usePages('alerts.list', { state, limit: 50 }, useEvery(5));
  return (
    <>
      <OpenOrAll
        title="Alerts"
        lead="Silent feeds, incomplete runs, partners and destinations that do not answer, refused credentials, growing backlogs. An alert resolves by itself when its cause is gone."
        state={state}
        onState={setState}
        list={list}
        rowKey={({ alert_id }) => alert_id}
        never="No alert has been raised yet"
        columns={[
          { head: 'Alert', phone: 'line', cell: (alert) => <What alert={alert} /> },
          { head: 'Severity', cell: ({ severity }) => <State of={severity} /> },
          { head: 'Raised', cell: ({ raised_at }) => <RelativeTime at={raised_at} /> },
          { head: 'State', cell: (alert) => <Handling alert={alert} /> },
        ]}
      />
      <div className="stack after">
        <HoldsCard />
        <Routes />
      </div>
    </>
  );
}

/** Where alerts are sent. Only for those who may see the whole service. */
function Routes() {
  const operator = useMay('operator');
  const { data } = useApi('alert_routes.list', {}, { retry: false });
  const test = useAct(
    async (route: string) => ({ route, ...(await call('alert_routes.test', { route })) }),
    ({ route, failure }) => (failure === null ? `A test alert was sent over ${route}.` : `${route}: ${failure}`),
  );
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Card title="Routes" flush>
      <Table
        label="Alert routes"
        rows={data.items}
        rowKey={({ route }) => route}
        empty={<Empty title="No routes" />}
        columns={[
          {
            head: 'Route',
            cell: ({ route, type, failure }) => (
              <>
                <strong>{route}</strong>
                <div className="muted small">{failure ?? type}</div>
              </>
            ),
          },
          { head: 'Severities', phone: 'labelled', cell: ({ severities }) => severities.join(', ') },
          { head: 'Brands', phone: 'labelled', cell: ({ integrations }) => integrations?.join(', ') ?? 'all' },
          {
            head: 'Quiet hours',
            phone: 'labelled',
            cell: ({ quiet }) => (quiet ? `${quiet.from} to ${quiet.to}, ${quiet.timezone}` : 'none'),
          },
          { head: 'Waiting', phone: 'labelled', cell: ({ waiting }) => waiting },
          {
            head: 'Last sent',
            phone: 'labelled',
            cell: ({ last_sent_at }) => <RelativeTime at={last_sent_at} none="never" />,
          },
          {
            head: 'Test',
            silent: true,
            cell: ({ route }) =>
              operator && (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Test ${route}`}
                  loading={test.isPending && test.variables === route}
                  onClick={() => test.mutate(route)}
                >
                  Test
                </Button>
              ),
          },
        ]}
      />
    </Card>
  );
}

function What({ alert }: { alert: Alert }) {
  const history = historyOf(alert.detail);
  return (
    <>
      <strong>{capital(alertWords(alert.kind))}</strong> {alert.integration && <BrandLink name={alert.integration} />}
      <div>{alert.message}</div>
      {history && <History days={history} label={capital(alertWords(alert.kind))} />}
    </>
  );
}

function Handling({ alert }: { alert: Alert }) {
  const operator = useMay('operator');
  const acknowledge = useAct(
    () => call('alerts.acknowledge', { alert_id: alert.alert_id }),
    () => 'Acknowledged. The alert resolves by itself when its cause is gone.',
  );
  if (alert.resolved_at) {
    return (
      <>
        <State of="done" label="Resolved" /> <RelativeTime at={alert.resolved_at} />
      </>
    );
  }
  if (alert.acknowledged_at) return <State of="calm" label={`Acknowledged by ${alert.acknowledged_by}`} />;
  if (!operator) return <State of="open" />;
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`Acknowledge ${alertWords(alert.kind)} ${alert.integration}`}
      onClick={() => acknowledge.mutate(undefined)}
      loading={acknowledge.isPending}
    >
      Acknowledge
    </Button>
  );
}
