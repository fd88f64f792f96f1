import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type Answer, call, Problem } from '../../api/client.ts';
import { useAct, useApi } from '../../api/query.tsx';
import { Card, Empty, Failure, Notice } from '../../parts/basics.tsx';
import { JsonText } from '../../parts/data.tsx';
import { LastRequest, type Sent } from '../../parts/LastRequest.tsx';
import { Release } from '../../parts/Release.tsx';
import { RunTable } from '../../parts/Runs.tsx';
import type { Brand } from './brand.ts';
import { DryRun } from './DryRun.tsx';

/** The brand was applied with its pulls paused: nothing is stored before somebody has seen the resulting records. */
export function FirstPull({ brand, onAccess }: { brand: Brand; onAccess: () => void }) {
  const integration = brand.name;
  const [page, setPage] = useState<Answer<'map.fetch'>>();
  const now = useApi('integrations.get', { integration }, { everyMs: 5_000 }).data;
  const begun = now?.paused_in_document === false;
  const test = useAct(
    () => call('map.fetch', { integration }),
    (answer) => {
      setPage(answer);
      return undefined;
    },
  );
  const failed = test.error instanceof Problem ? (test.error.body.request as Sent | undefined) : undefined;
  const sent = test.error ? failed : page?.request;
  const start = useAct(
    async () => {
      const { pulling } = await call('integrations.start', { integration });
      if (pulling) await call('integrations.run', { integration, sync: 'stay' });
      return pulling;
    },
    (pulling) => (pulling ? 'Pulling has started.' : 'The document no longer pauses it; it is still paused.'),
  );
  return (
    <>
      <Card title="Connection" aside="stores nothing">
        <div className="stack">
          <p>Requests one page with the brand’s credentials and shows the request and the answer.</p>
          <div>
            <Button
              variant={page ? 'default' : 'filled'}
              onClick={() => test.mutate(undefined)}
              loading={test.isPending}
            >
              Test the connection
            </Button>
          </div>
          {test.error && (
            <Refused brand={brand} error={test.error} onAccess={onAccess} onRetry={() => test.mutate(undefined)} />
          )}
          {page && !test.error && (
            <>
              <Notice tone="good" role="status" title="The partner answered" />
              <JsonText value={JSON.parse(page.sample)} label="Answer" />
            </>
          )}
          {sent && <LastRequest sent={sent} />}
        </div>
      </Card>
      {page && <DryRun brand={brand} />}
      <Card title="Pull" aside={begun ? 'on schedule' : 'paused until you start it'}>
        <div className="stack">
          <p>
            Starts the schedule of the brand with a first run. Its records are stored
            {brand.preview ? '; deliveries wait for your release' : ' and delivered'}.
          </p>
          <div>
            <Button
              variant={page ? 'filled' : 'default'}
              onClick={() => start.mutate(undefined)}
              loading={start.isPending}
              disabled={begun}
            >
              Start pulling
            </Button>
          </div>
        </div>
      </Card>
      {begun && <FirstRun integration={integration} />}
      {begun && brand.preview && brand.deliver.length > 0 && (
        <Card title="Look and release" aside="nothing is sent before">
          <div className="stack">
            <p>When the first runs are complete, look at what would be sent, and release it.</p>
            {brand.deliver.map((destination) => (
              <div key={destination} className="row">
                <span className="muted small">{destination}</span>
                <Release integration={integration} destination={destination} />
              </div>
            ))}
          </div>
        </Card>
      )}
    </>
  );
}

function Refused(props: { brand: Brand; error: Error; onAccess: () => void; onRetry: () => void }) {
  const { brand, error, onAccess, onRetry } = props;
  return (
    <>
      <Failure error={error} onRetry={onRetry} />
      <p>
        <button type="button" className="link" onClick={onAccess}>
          Correct the address or the credentials
        </button>
        , or the request in{' '}
        <Link to="/documents/$kind/$name" params={{ kind: 'connector', name: brand.connector }}>
          the connector
        </Link>
        . This page waits for you.
      </p>
    </>
  );
}

function FirstRun({ integration }: { integration: string }) {
  const query = useApi('runs.list', { integration, limit: 3 }, { everyMs: 1_000 });
  return (
    <Card title="First runs" flush>
      <RunTable
        runs={query.data?.items}
        error={query.error}
        empty={<Empty small title="The first run is about to start" />}
        brand={false}
      />
    </Card>
  );
}
