import { Button, CopyButton } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type Answer, call } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import { useAct, useApi } from '../api/query.tsx';
import { actionText } from '../parts/actions.ts';
import { Card, Empty, Facts, Head, Loaded, Notice, RelativeTime, State } from '../parts/basics.tsx';
import { incidentOver } from '../parts/claims.ts';
import { alertWords, brandsText, capital, clockOf, instant, number, plural, span } from '../parts/format.ts';
import { BrandLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { TryNow } from '../parts/TryNow.tsx';
import { useMay } from '../shell/session.ts';
import { Standing } from './Incidents.tsx';

const route = getRouteApi('/console/incidents/$id');
type Data = Answer<'incidents.get'>;

export function Incident() {
  const { id } = route.useParams();
  const query = useApi('incidents.get', { incident_id: id }, { everyMs: useEvery(5) });
  return (
    <Loaded query={query} head={<Head title="Incident" crumb={<Link to="/incidents">Incidents</Link>} />}>
      {(incident) => (
        <>
          <Head
            title={incident.title}
            crumb={<Link to="/incidents">Incidents</Link>}
            lead={
              <span className="row">
                <State of={incident.severity} />
                <Standing incident={incident} />
                <span>
                  since {instant(incident.started_at)} · {brandsText(incident.brands)}
                </span>
              </span>
            }
          >
            <Actions incident={incident} />
          </Head>
          <div className="stack">
            {incident.ended_at ? <Ended incident={incident} /> : <ToDo incident={incident} />}
            <Periods incident={incident} />
            <div className="split">
              <Effect incident={incident} />
              <Tried incident={incident} />
            </div>
            <Alerts incident={incident} />
          </div>
        </>
      )}
    </Loaded>
  );
}

/** When its alerts were open, on one strip of time. */
function Periods({ incident: { started_at, ended_at, alert_list } }: { incident: Data }) {
  const from = Date.parse(started_at);
  const to = ended_at ? Date.parse(ended_at) : Date.now();
  const place = (at: number) => `${(100 * Math.min(1, Math.max(0, (at - from) / Math.max(1, to - from)))).toFixed(2)}%`;
  const text = `${plural(alert_list.length, 'period')} with an open alert, from ${clockOf(started_at)} to ${ended_at ? clockOf(ended_at) : 'now'}`;
  return (
    <div className="periods">
      <div role="img" aria-label={text}>
        {alert_list.map(({ alert_id, raised_at, resolved_at, severity }) => {
          const end = resolved_at ? Date.parse(resolved_at) : to;
          return (
            <i
              key={alert_id}
              data-tone={severity === 'critical' ? 'bad' : 'warn'}
              style={{ left: place(Date.parse(raised_at)), right: `calc(100% - ${place(end)})` }}
            />
          );
        })}
      </div>
      <span className="small muted">{clockOf(started_at)}</span>
      <span className="small muted">{ended_at ? clockOf(ended_at) : 'now'}</span>
    </div>
  );
}

function Actions({ incident }: { incident: Data }) {
  const operator = useMay('operator');
  const acknowledge = useAct(
    () => call('incidents.acknowledge', { incident_id: incident.incident_id }),
    () => 'Acknowledged, with all its alerts.',
  );
  return (
    <>
      {operator && !incident.ended_at && !incident.acknowledged_at && (
        <Button onClick={() => acknowledge.mutate(undefined)} loading={acknowledge.isPending}>
          Acknowledge
        </Button>
      )}
      <CopyButton value={asText(incident)}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy}>
            {copied ? 'Copied' : 'Copy link and summary'}
          </Button>
        )}
      </CopyButton>
    </>
  );
}

/** For a chat or a hand-over. */
function asText(incident: Data): string {
  const { title, message, started_at, ended_at, brands, acknowledged_by } = incident;
  return [
    `${title}: ${message}`,
    `Since ${instant(started_at)}${ended_at ? `, ended ${instant(ended_at)}` : ''}. Concerns ${brandsText(brands)}.`,
    effects(incident)
      .map(([what, count]) => `${what}: ${number(count)}`)
      .join(', '),
    acknowledged_by && `Acknowledged by ${acknowledged_by}.`,
    `${location.origin}/incidents/${incident.incident_id}`,
  ]
    .filter(Boolean)
    .join('\n');
}

function ToDo({ incident }: { incident: Data }) {
  return (
    <Notice tone={incident.severity === 'critical' ? 'bad' : 'warn'} title={incident.message}>
      {incident.advice.map((text) => (
        <div key={text}>{text}</div>
      ))}
      <Try incident={incident} />
    </Notice>
  );
}

/** The button of the cause, if it is one that waits. */
function Try({ incident }: { incident: Data }) {
  const [kind, name = ''] = incident.cause.split(/:(.*)/s);
  const [brand] = incident.brands;
  if (kind === 'destination') return <TryNow action="try_destination" of={name} />;
  if (brand === undefined) return null;
  if (kind === 'partner') return <TryNow action="try_now" of={brand} />;
  if (kind !== 'pull') return null;
  const isRefused = incident.alert_list.some((alert) => alert.kind === 'auth_failed' && alert.resolved_at === null);
  return <TryNow action={isRefused ? 'test_and_resume' : 'try_now'} of={brand} />;
}

/** The summary after the end. */
function Ended({ incident }: { incident: Data }) {
  const { started_at, ended_at, brands, alerts } = incident;
  const lasted = span(Date.parse(ended_at ?? started_at) - Date.parse(started_at));
  const over = incidentOver(ended_at, lasted);
  return (
    <Notice tone={over?.tone ?? 'calm'} title={over?.text}>
      {capital(plural(alerts, 'alert'))}, {brandsText(brands)}. {incident.message}
    </Notice>
  );
}

/** The counts that are not zero. */
function effects(incident: Data): [what: string, count: number][] {
  const names = {
    waiting: 'Changes waiting now',
    failed_attempts: 'Failed attempts to deliver',
    dead_letters: incident.ended_at ? 'New dead letters' : 'Open dead letters',
    waiting_runs: 'Runs waiting now',
    failed_runs: 'Failed or incomplete runs',
    complete_runs: 'Complete runs',
    refused_events: 'Refused events',
  };
  return Object.entries(names).flatMap(([key, name]): [string, number][] => {
    const count = (incident.effect as Record<string, number>)[key] ?? 0;
    return count > 0 ? [[name, count]] : [];
  });
}

function Effect({ incident }: { incident: Data }) {
  const counts = effects(incident);
  const [kind, name = ''] = incident.cause.split(/:(.*)/s);
  return (
    <Card title="Effect" aside="on these brands, since it started">
      <div className="stack">
        {counts.length === 0 ? (
          <p className="muted">
            {incident.brands.length === 0
              ? 'It concerns the service; nothing is counted for single brands.'
              : 'Nothing is counted for this cause since it started.'}
          </p>
        ) : (
          <Facts facts={counts.map(([what, count]) => [what, number(count)])} />
        )}
        <p>
          {kind === 'destination' ? (
            <Link to="/destinations">The destination {name}</Link>
          ) : (
            incident.brands.slice(0, 5).map((brand) => (
              <span key={brand}>
                <BrandLink name={brand} />{' '}
              </span>
            ))
          )}
        </p>
      </div>
    </Card>
  );
}

function Tried({ incident }: { incident: Data }) {
  return (
    <Card title="What was tried" aside="changes by operators since it started" flush>
      <Table
        label="What was tried"
        narrow
        rows={incident.tried}
        rowKey={({ at, action, actor }) => `${at} ${action} ${actor}`}
        empty={
          <Empty small title="Nothing yet">
            Pauses, runs, applied documents and replays appear here.
          </Empty>
        }
        columns={[
          { head: 'At', cell: ({ at }) => clockOf(at) },
          { head: 'Action', cell: (one) => actionText(one) },
          { head: 'By', cell: ({ actor }) => actor },
        ]}
      />
    </Card>
  );
}

function Alerts({ incident }: { incident: Data }) {
  return (
    <Card title={plural(incident.alerts, 'alert')} flush>
      <Table
        label="Alerts"
        rows={incident.alert_list}
        rowKey={({ alert_id }) => alert_id}
        columns={[
          {
            head: 'Alert',
            phone: 'line',
            cell: ({ kind, integration, message }) => (
              <>
                <strong>{capital(alertWords(kind))}</strong> {integration}
                <div>{message}</div>
              </>
            ),
          },
          { head: 'Severity', cell: ({ severity }) => <State of={severity} /> },
          { head: 'Raised', phone: 'labelled', cell: ({ raised_at }) => <RelativeTime at={raised_at} /> },
          {
            head: 'Resolved',
            phone: 'labelled',
            cell: ({ resolved_at }) => <RelativeTime at={resolved_at} none="not yet" />,
          },
        ]}
      />
    </Card>
  );
}
