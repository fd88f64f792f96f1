import { Button, Modal, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { get, Problem, part, post, remove } from '../api/client.ts';
import type { Endpoint, Issued, Rejections } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { Ago, Card, Failure, Notice } from '../parts/basics.tsx';
import { Copyable } from '../parts/data.tsx';
import { number } from '../parts/format.ts';
import { useMay } from '../shell/session.ts';

/** Where the partner pushes to, which secrets count, and what was refused. */
export function EndpointCard({ integration }: { integration: string }) {
  const path = `/integrations/${part(integration)}`;
  const admin = useMay('admin');
  const [issued, setIssued] = useState<Issued>();
  const [retiring, setRetiring] = useState(false);
  const endpoint = useQuery({
    queryKey: ['endpoint', integration],
    queryFn: ({ signal }) => get<Endpoint>(`${path}/endpoint`, undefined, signal),
  });
  const rejections = useQuery({
    queryKey: ['rejections', integration],
    queryFn: ({ signal }) => get<Rejections>(`${path}/rejections`, undefined, signal),
    refetchInterval: 30_000,
  });
  const show = (made: Issued, text: string) => {
    setIssued(made);
    return text;
  };
  const issue = useAct(
    () => post<Issued>(`${path}/endpoint`),
    (made) => show(made, 'The endpoint is there.'),
  );
  const rotate = useAct(
    () => post<Issued>(`${path}/endpoint/rotate`, { overlap_hours: 24 }),
    (made) => show(made, 'The new secret counts now; the one before for another day.'),
  );
  const missing = endpoint.error instanceof Problem && endpoint.error.status === 404;
  return (
    <Card
      title="Push"
      aside={
        <>
          last event <Ago at={endpoint.data?.last_event_at} none="not yet" /> ·{' '}
          <Link to="/events" search={{ integration }}>
            events
          </Link>
        </>
      }
    >
      <div className="stack">
        {endpoint.error && !missing && <Failure error={endpoint.error} />}
        {endpoint.data && (
          <>
            <Copyable text={endpoint.data.url} label="webhook address" />
            <div className="row small muted">
              <span>
                {endpoint.data.secrets.length === 1
                  ? 'One secret counts.'
                  : `${endpoint.data.secrets.length} secrets count.`}
              </span>
              {endpoint.data.sandbox_url && (
                <span>
                  Sandbox: <code>{endpoint.data.sandbox_url}</code>
                </span>
              )}
            </div>
          </>
        )}
        {rejections.data && rejections.data.last_day.length > 0 && (
          <Notice tone="warn" title="Refused in the last day">
            {rejections.data.last_day.map(({ code, reason, count }) => (
              <div key={`${code} ${reason}`}>
                {number(count)} × <code>{code}</code> {reason}
              </div>
            ))}
          </Notice>
        )}
        {admin && (
          <div className="row">
            {missing && (
              <Button onClick={() => issue.mutate(undefined)} loading={issue.isPending}>
                Issue the endpoint
              </Button>
            )}
            {endpoint.data && (
              <>
                <Button variant="default" size="xs" onClick={() => rotate.mutate(undefined)} loading={rotate.isPending}>
                  Rotate the secret
                </Button>
                <Button variant="default" size="xs" onClick={() => setRetiring(true)}>
                  Retire the endpoint …
                </Button>
              </>
            )}
          </div>
        )}
      </div>
      <Modal opened={issued !== undefined} onClose={() => setIssued(undefined)} title="Hand these to the partner">
        {issued && <Handover issued={issued} />}
      </Modal>
      <Retire integration={integration} opened={retiring} onClose={() => setRetiring(false)} />
    </Card>
  );
}

function Retire({ integration, opened, onClose }: { integration: string; opened: boolean; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const retire = useAct(
    () => remove(`/integrations/${part(integration)}/endpoint`),
    () => {
      onClose();
      return `The endpoint of ${integration} is retired.`;
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    retire.mutate(undefined);
  };
  return (
    <Modal opened={opened} onClose={onClose} title="Retire the endpoint">
      <form className="form" onSubmit={submit}>
        <p>
          Its address answers 410 from now on, for good, and the sandbox’s too. What was taken stays. A new endpoint
          gets another address and secret, which the partner has to be given.
        </p>
        <TextInput
          label={`The brand’s name, ${integration}, to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
        <div>
          <Button type="submit" data-danger disabled={typed !== integration} loading={retire.isPending}>
            Retire it
          </Button>
        </div>
      </form>
    </Modal>
  );
}

export function Handover({ issued }: { issued: Issued }) {
  return (
    <div className="stack">
      <div>
        <div className="muted small">Address</div>
        <Copyable text={issued.url} label="webhook address" />
      </div>
      {issued.secret ? (
        <div>
          <div className="muted small">Secret, shown only now</div>
          <Copyable text={issued.secret} label="secret" />
        </div>
      ) : (
        <Notice tone="calm" title="The secret was shown before">
          Rotate it to get a new one; the old one counts for a day more.
        </Notice>
      )}
      <div>
        <div className="muted small">Sandbox, takes anything and touches nothing</div>
        <Copyable text={issued.sandbox_url} label="sandbox address" />
      </div>
    </div>
  );
}
