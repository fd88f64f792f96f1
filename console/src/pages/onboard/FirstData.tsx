import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { call } from '../../api/client.ts';
import { useApi } from '../../api/query.tsx';
import type { Issued } from '../../api/types.ts';
import { Card, Failure, Notice, RelativeTime, State } from '../../parts/basics.tsx';
import { firstEvent } from '../../parts/claims.ts';
import { Copyable } from '../../parts/data.tsx';
import { words } from '../../parts/format.ts';
import { RecordLink } from '../../parts/links.tsx';
import { ConsentCard } from '../ConsentCard.tsx';
import { PartnerDetails } from '../EndpointCard.tsx';
import type { Brand } from './brand.ts';
import { FirstPull } from './FirstPull.tsx';
import { curlRecipe } from './recipe.ts';

/** The last step: the connection is tested, pulling starts, and the first event arrives. */
export function FirstData(props: {
  brand: Brand;
  /** The brand is connected; the form can be forgotten. */
  onEnd: () => void;
  onAnother: () => void;
  /** Back to the address and the credentials. */
  onAccess: () => void;
  issued: Issued | undefined;
  onIssued: (issued: Issued) => void;
}) {
  const { brand } = props;
  return (
    <div className="stack">
      {brand.pulls && brand.auth === 'oauth2, authorization_code' && <ConsentCard integration={brand.name} />}
      {brand.pulls && <FirstPull brand={brand} onAccess={props.onAccess} />}
      {brand.pushes && <Push {...props} />}
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

function Push({ brand, issued, onIssued }: Pick<Parameters<typeof FirstData>[0], 'brand' | 'issued' | 'onIssued'>) {
  const [error, setError] = useState<Error>();
  const asked = useRef(false);
  // Once, not per render: only the first answer has the secret.
  useEffect(() => {
    if (asked.current || issued) return;
    asked.current = true;
    call('endpoint.issue', { integration: brand.name }).then(onIssued, setError);
  }, [brand.name, issued, onIssued]);
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
          <Notice tone={firstEvent(first).tone} role="status" title={firstEvent(first).text}>
            <p>
              <code>{first.event}</code> <State of={first.state} label={words(first.outcome ?? first.state)} />{' '}
              <RelativeTime at={first.received_at} />
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
