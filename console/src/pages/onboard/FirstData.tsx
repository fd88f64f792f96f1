import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { type Answer, call } from '../../api/client.ts';
import { useAct, useApi } from '../../api/query.tsx';
import type { Issued } from '../../api/types.ts';
import { Ago, Card, Empty, Failure, Notice, State } from '../../parts/basics.tsx';
import { Copyable, JsonText } from '../../parts/data.tsx';
import { words } from '../../parts/format.ts';
import { RecordLink } from '../../parts/links.tsx';
import { RunTable } from '../../parts/Runs.tsx';
import { ConsentCard } from '../ConsentCard.tsx';
import { PartnerDetails } from '../EndpointCard.tsx';
import { Mapped } from '../Mapped.tsx';
import { type Brand, started } from './brand.ts';
import { curlRecipe } from './recipe.ts';

/** The last step: the connection is tested, pulling starts, and the first event arrives. */
export function FirstData(props: {
  brand: Brand;
  /** The brand is connected; the form can be forgotten. */
  onEnd: () => void;
  onAnother: () => void;
}) {
  const { brand } = props;
  return (
    <div className="stack">
      {brand.pulls && brand.auth === 'oauth2, authorization_code' && <ConsentCard integration={brand.name} />}
      {brand.pulls && <Pull brand={brand} />}
      {brand.pushes && <Push brand={brand} />}
      <div className="row">
        <Button component={Link} to={`/integrations/${brand.name}`} onClick={props.onEnd}>
          Open {brand.name}
        </Button>
        <Button variant="default" onClick={props.onAnother}>
          Connect another brand
        </Button>
      </div>
    </div>
  );
}

/** The brand was applied with its pulls paused: nothing is stored before somebody has seen the resulting records. */
function Pull({ brand }: { brand: Brand }) {
  const integration = brand.name;
  const [page, setPage] = useState<Answer<'map.fetch'>>();
  const document = useApi('documents.get', { kind: 'integration', name: integration });
  const begun = document.data !== undefined && started(document.data.source) === document.data.source;
  const test = useAct(
    () => call('map.fetch', { integration }),
    (answer) => {
      setPage(answer);
      return undefined;
    },
  );
  const start = useAct(
    async () => {
      const { source } = await call('documents.get', { kind: 'integration', name: integration });
      await call('documents.apply', { kind: 'integration', name: integration, text: started(source) });
      return call('integrations.run', { integration, sync: 'stay' });
    },
    () => 'Pulling has started.',
  );
  return (
    <>
      <Card title="Pull" aside={begun ? 'on schedule' : 'paused until you start it'}>
        <div className="stack">
          <p>Test the connection first: it requests one page with the brand’s credentials and stores nothing.</p>
          <div className="row">
            <Button
              variant={page ? 'default' : 'filled'}
              onClick={() => test.mutate(undefined)}
              loading={test.isPending}
            >
              Test the connection
            </Button>
            <Button
              variant={page ? 'filled' : 'default'}
              onClick={() => start.mutate(undefined)}
              loading={start.isPending}
              disabled={begun}
            >
              Start pulling
            </Button>
          </div>
          {test.error && (
            <>
              <Failure error={test.error} />
              <p>
                Correct the credentials under <Link to="/secrets">Secrets</Link>, the address in{' '}
                <Link to="/documents/$kind/$name" params={{ kind: 'integration', name: integration }}>
                  the brand’s document
                </Link>
                , or the request in{' '}
                <Link to="/documents/$kind/$name" params={{ kind: 'connector', name: brand.connector }}>
                  the connector
                </Link>
                . This page waits for you.
              </p>
            </>
          )}
          {page && (
            <Notice tone="good" role="status" title="The partner answered">
              <code>
                {page.request.method} {page.request.url}
              </code>
            </Notice>
          )}
        </div>
      </Card>
      {page && <DryRun brand={brand} page={page} />}
      {begun && <FirstRun integration={integration} />}
    </>
  );
}

/** The page as received, and the resulting records. */
function DryRun({ brand, page }: { brand: Brand; page: Answer<'map.fetch'> }) {
  const connector = useApi('documents.get', { kind: 'connector', name: brand.connector });
  const preview = useApi(
    'map.preview',
    { connector: connector.data?.source ?? '', sample: page.sample, integration: brand.name },
    { enabled: connector.data !== undefined, retry: false },
  );
  return (
    <div className="split">
      <Card title="Answer" aside={`${page.window.from} to ${page.window.to}`}>
        <JsonText value={JSON.parse(page.sample)} label="Answer" />
      </Card>
      <Mapped preview={preview.data} error={preview.error} />
    </div>
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
              <RecordLink integration={brand.name} type={first.type} id={first.id}>
                See the record
              </RecordLink>
            )}
          </Notice>
        ) : (
          <div className="stack">
            <p role="status">
              <State of="running" label="Listening" /> The event appears here as soon as it arrives.
            </p>
            {issued?.secret && (
              <details className="fold">
                <summary>Send a test event yourself</summary>
                <Copyable label="commands" text={curlRecipe(issued.url, issued.secret, brand.brandId)} />
              </details>
            )}
          </div>
        )}
      </Card>
    </div>
  );
}
