import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { useAct, useApi } from '../../api/query.tsx';
import type { Issued } from '../../api/types.ts';
import { Ago, Card, Failure, Notice, State } from '../../parts/basics.tsx';
import { Copyable } from '../../parts/data.tsx';
import { words } from '../../parts/format.ts';
import { ConsentCard } from '../ConsentCard.tsx';
import { PartnerDetails } from '../EndpointCard.tsx';
import type { Brand } from './brand.ts';

export function FirstEvent({ brand, onAnother }: { brand: Brand; onAnother: () => void }) {
  const run = useAct(
    () => call('integrations.run', { integration: brand.name, sync: 'stay' }),
    () => 'The first pull is queued.',
  );
  return (
    <div className="stack">
      {brand.pushes && <Push brand={brand} />}
      {brand.pulls && brand.auth === 'oauth2, authorization_code' && <ConsentCard integration={brand.name} />}
      {brand.pulls && (
        <Card title="Pull">
          <div className="row">
            <Button variant="default" onClick={() => run.mutate(undefined)} loading={run.isPending}>
              Pull current stays now
            </Button>
            <Link to="/runs" search={{ integration: brand.name }}>
              See the runs
            </Link>
          </div>
        </Card>
      )}
      <div className="row">
        <Button component={Link} to={`/integrations/${brand.name}`}>
          Open {brand.name}
        </Button>
        <Button variant="default" onClick={onAnother}>
          Connect another brand
        </Button>
      </div>
    </div>
  );
}

function Push({ brand }: { brand: Brand }) {
  const [issued, setIssued] = useState<Issued>();
  const [error, setError] = useState<Error>();
  const asked = useRef(false);
  // Once per page, not per render: only the first answer has the secret.
  useEffect(() => {
    if (asked.current) return;
    asked.current = true;
    call('endpoint.issue', { integration: brand.name }).then(setIssued, setError);
  }, [brand.name]);
  const events = useApi(
    'events.list',
    { integration: brand.name, limit: 1 },
    { everyMs: (answer) => (answer?.items[0]?.state === 'done' ? false : 1_000) },
  );
  const first = events.data?.items[0];
  return (
    <div className="split">
      <Card title="Give these to the partner">
        {error && <Failure error={error} />}
        {issued && <PartnerDetails issued={issued} />}
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
                See the record
              </Link>
            )}
          </Notice>
        ) : (
          <div className="stack">
            <p role="status">
              <State of="running" label="Listening" /> The event appears here as soon as it arrives.
            </p>
            <p className="small muted">
              To send a test event yourself, put the secret into INNBOUND_WEBHOOK_SECRET and run:
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
