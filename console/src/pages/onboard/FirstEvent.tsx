import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { get, part, post } from '../../api/client.ts';
import type { EventRow, Issued, Page } from '../../api/types.ts';
import { useAct } from '../../parts/act.ts';
import { Ago, Card, Failure, Notice, State } from '../../parts/basics.tsx';
import { Copyable } from '../../parts/data.tsx';
import { words } from '../../parts/format.ts';
import { ConsentCard } from '../ConsentCard.tsx';
import { Handover } from '../EndpointCard.tsx';
import type { Brand } from './brand.ts';

export function FirstEvent({ brand, onAnother }: { brand: Brand; onAnother: () => void }) {
  const path = `/integrations/${part(brand.name)}`;
  const run = useAct(
    () => post<{ run_id: string }>(`${path}/runs`, { sync: 'stay' }),
    () => 'The first pull is on its way; see its runs.',
  );
  return (
    <div className="stack">
      {brand.pushes && <Push brand={brand} />}
      {brand.pulls && brand.auth === 'oauth2, authorization_code' && <ConsentCard integration={brand.name} />}
      {brand.pulls && (
        <Card title="Pull">
          <div className="row">
            <Button variant="default" onClick={() => run.mutate(undefined)} loading={run.isPending}>
              Pull the stays once now
            </Button>
            <Link to="/runs" search={{ integration: brand.name }}>
              See its runs
            </Link>
          </div>
        </Card>
      )}
      <div className="row">
        <Button component={Link} to={`/integrations/${brand.name}`}>
          To the page of {brand.name}
        </Button>
        <Button variant="default" onClick={onAnother}>
          Connect another brand
        </Button>
      </div>
    </div>
  );
}

function Push({ brand }: { brand: Brand }) {
  const path = `/integrations/${part(brand.name)}`;
  const [issued, setIssued] = useState<Issued>();
  const [error, setError] = useState<Error>();
  const asked = useRef(false);
  // Once, however often the page is drawn: the secret is in the first answer alone.
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    post<Issued>(`${path}/endpoint`).then(setIssued, setError);
  }, [path]);
  const events = useQuery({
    queryKey: ['events', 'first', brand.name],
    queryFn: ({ signal }) => get<Page<EventRow>>('/events', { integration: brand.name, limit: 1 }, signal),
    refetchInterval: ({ state }) => (state.data?.items[0]?.state === 'done' ? false : 1_000),
  });
  const first = events.data?.items[0];
  return (
    <div className="split">
      <Card title="Hand these to the partner">
        {error && <Failure error={error} />}
        {issued && <Handover issued={issued} />}
      </Card>
      <Card title="First event">
        {first ? (
          <Notice tone="good" role="status" title="The first event has arrived">
            <p>
              <code>{first.event}</code> <State of={first.state} label={words(first.outcome ?? first.state)} />{' '}
              <Ago at={first.received_at} />
            </p>
            {first.id && first.type && (
              <Link
                to="/reservations/$name/$type/$id"
                params={{ name: brand.name, type: `${first.type}s`, id: first.id }}
              >
                See what became of it
              </Link>
            )}
          </Notice>
        ) : (
          <div className="stack">
            <p role="status">
              <State of="running" label="Listening" /> It shows here the moment it arrives.
            </p>
            <p className="small muted">
              No partner at hand? Send one yourself, with the secret in INNBOUND_WEBHOOK_SECRET:
            </p>
            {issued && (
              <Copyable
                label="command"
                text={`bin/innbound partner send --url ${issued.url} --brand ${brand.brandId} event.json`}
              />
            )}
          </div>
        )}
      </Card>
    </div>
  );
}
