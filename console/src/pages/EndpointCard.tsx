import { Button, Modal, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import type { Issued } from '../api/types.ts';
import { Card, Failure, Notice, RelativeTime } from '../parts/basics.tsx';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { Copyable } from '../parts/data.tsx';
import { number, plural, words } from '../parts/format.ts';
import { useMay } from '../shell/session.ts';

/** The webhook address, its active secrets, and what was rejected. */
export function EndpointCard({ integration }: { integration: string }) {
  const admin = useMay('admin');
  const [issued, setIssued] = useState<Issued>();
  const [retiring, setRetiring] = useState(false);
  const endpoint = useApi('endpoint.get', { integration });
  const rejections = useApi('rejections.list', { integration }, { everyMs: 30_000 });
  const show = (made: Issued, text: string) => {
    setIssued(made);
    return text;
  };
  const issue = useAct(
    () => call('endpoint.issue', { integration }),
    (made) => show(made, 'The endpoint is ready.'),
  );
  const rotate = useAct(
    () => call('endpoint.rotate', { integration, overlap_hours: 24 }),
    (made) => show(made, 'The new secret is active. The old one stays valid for another day.'),
  );
  const missing = endpoint.data === null;
  return (
    <Card
      title="Push"
      aside={
        <>
          {endpoint.data !== undefined && (
            <>
              {endpoint.data?.last_event_at ? 'last event ' : ''}
              <RelativeTime at={endpoint.data?.last_event_at} none="no event yet" /> ·{' '}
            </>
          )}
          <Link to="/events" search={{ integration }}>
            events
          </Link>
        </>
      }
    >
      <div className="stack">
        {endpoint.error && <Failure error={endpoint.error} />}
        {endpoint.data && (
          <>
            <Copyable text={endpoint.data.url} label="webhook address" />
            <div className="row small muted">
              <span>{plural(endpoint.data.secrets.length, 'active secret')}.</span>
              {endpoint.data.sandbox_url && (
                <span>
                  Sandbox: <code>{endpoint.data.sandbox_url}</code>
                </span>
              )}
            </div>
          </>
        )}
        {rejections.data && rejections.data.last_day.length > 0 && (
          <Notice tone="warn" title="Rejected in the last day">
            {rejections.data.last_day.map(({ code, reason, count, remedy }) => (
              <div key={`${code} ${reason}`}>
                {number(count)} × {words(reason)}. {remedy}
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
      <Modal opened={issued !== undefined} onClose={() => setIssued(undefined)} title="Give these to the partner">
        {issued && <PartnerDetails issued={issued} />}
      </Modal>
      <Retire integration={integration} opened={retiring} onClose={() => setRetiring(false)} />
    </Card>
  );
}

function Retire({ integration, opened, onClose }: { integration: string; opened: boolean; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const retire = useAct(
    () => call('endpoint.retire', { integration }),
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
          The address and its sandbox answer 410 from now on. This cannot be undone. Accepted events are kept. A new
          endpoint has another address and secret, which you give to the partner.
        </p>
        <TextInput
          label={`Type ${integration} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
        <DialogButtons onCancel={onClose}>
          <Button type="submit" data-danger disabled={typed !== integration} loading={retire.isPending}>
            Retire
          </Button>
        </DialogButtons>
      </form>
    </Modal>
  );
}

export function PartnerDetails({ issued }: { issued: Issued }) {
  return (
    <div className="stack">
      <div>
        <div className="muted small">Address</div>
        <Copyable text={issued.url} label="webhook address" />
      </div>
      {issued.secret ? (
        <div>
          <div className="muted small">Secret, shown only once</div>
          <Copyable text={issued.secret} label="secret" />
        </div>
      ) : (
        <Notice tone="calm" title="The secret was already shown">
          Rotate it to get a new one. The old one stays valid for another day.
        </Notice>
      )}
      <div>
        <div className="muted small">Sandbox: accepts anything, changes nothing</div>
        <Copyable text={issued.sandbox_url} label="sandbox address" />
      </div>
    </div>
  );
}
