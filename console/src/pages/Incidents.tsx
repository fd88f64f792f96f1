import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useEvery } from '../api/live.ts';
import { usePages } from '../api/query.tsx';
import { RelativeTime, State } from '../parts/basics.tsx';
import { span } from '../parts/format.ts';
import { OpenOrAll, type Which } from './OpenOrAll.tsx';

export function Incidents() {
  const [state, setState] = useState<Which>('open');
  const list = usePages('incidents.list', { state, limit: 50 }, useEvery(5));
  return (
    <>
      <OpenOrAll
        title="Incidents"
        lead="Alerts grouped by their cause. An incident ends by itself when its last alert is resolved."
        state={state}
        onState={setState}
        list={list}
        rowKey={({ incident_id }) => incident_id}
        never="No incident yet"
        columns={[
          {
            head: 'Incident',
            phone: 'line',
            cell: ({ incident_id, title, message }) => (
              <>
                <Link to="/incidents/$id" params={{ id: incident_id }} className="name">
                  {title}
                </Link>
                <div>{message}</div>
              </>
            ),
          },
          { head: 'Severity', cell: ({ severity }) => <State of={severity} /> },
          { head: 'Alerts', kind: 'number', cell: ({ alerts }) => alerts },
          { head: 'Started', cell: ({ started_at }) => <RelativeTime at={started_at} /> },
          { head: 'State', cell: (incident) => <Standing incident={incident} /> },
        ]}
      />
      <p className="small after">
        <Link to="/night">What happened last night</Link> · <Link to="/alerts">All alerts, one by one</Link>
      </p>
    </>
  );
}

export function Standing(props: {
  incident: { started_at: string; ended_at: string | null; acknowledged_by: string | null };
}) {
  const { started_at, ended_at, acknowledged_by } = props.incident;
  if (ended_at) {
    return <State of="done" label={`Ended after ${span(Date.parse(ended_at) - Date.parse(started_at))}`} />;
  }
  return acknowledged_by ? <State of="calm" label={`Acknowledged by ${acknowledged_by}`} /> : <State of="open" />;
}
