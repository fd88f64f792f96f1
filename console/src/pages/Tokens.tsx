import { Button, Modal, MultiSelect, Select, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, usePages } from '../api/query.tsx';
import type { Role, TokenRow } from '../api/types.ts';
import { useBrandChoices } from '../parts/BrandSelect.tsx';
import { Ago, Card, Empty, Head, Notice, State } from '../parts/basics.tsx';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { Copyable } from '../parts/data.tsx';
import { Table } from '../parts/Table.tsx';

const kinds = { api: 'Token', sign_in: 'Sign-in link', session: 'Session' };

export function Tokens() {
  const [making, setMaking] = useState<'token' | 'link'>();
  const { rows, error, more } = usePages('tokens.list', { limit: 100 }, false);
  const revoke = useAct(
    (token_id: string) => call('tokens.revoke', { token_id }),
    () => 'Revoked, together with its sessions.',
  );
  return (
    <>
      <Head title="Tokens" lead="Who has access, and with which role. Only hashes are stored: a token is shown once.">
        <Button onClick={() => setMaking('token')}>New token</Button>
        <Button variant="default" onClick={() => setMaking('link')}>
          Sign-in link
        </Button>
      </Head>
      <Card flush>
        <Table
          label="Tokens"
          rows={rows}
          error={error}
          rowKey={({ token_id }) => token_id}
          empty={<Empty title="No active tokens" />}
          columns={[
            {
              head: 'Name',
              cell: ({ name, kind, created_by }) => (
                <>
                  <strong>{name}</strong>
                  <div className="muted small">
                    {kinds[kind]}
                    {kind !== 'session' && `, by ${created_by}`}
                  </div>
                </>
              ),
            },
            { head: 'Role', cell: ({ role }) => <State of={role} tone={role === 'admin' ? 'brass' : 'info'} /> },
            {
              head: 'Brands',
              phone: 'labelled',
              cell: ({ integrations }) => integrations?.join(', ') ?? 'all',
            },
            { head: 'Last used', phone: 'labelled', cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
            {
              head: 'Expires',
              phone: 'labelled',
              cell: ({ expires_at }) => <Ago at={expires_at} none="never" />,
            },
            {
              head: 'Revoke',
              silent: true,
              cell: ({ token_id, name }) => (
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Revoke ${name}`}
                  onClick={() => revoke.mutate(token_id)}
                >
                  Revoke
                </Button>
              ),
            },
          ]}
        />
        {more}
      </Card>
      {making && <Make what={making} onClose={() => setMaking(undefined)} />}
    </>
  );
}

interface Grant {
  readonly name: string;
  readonly role: TokenRow['role'];
  readonly integrations: string[] | null;
  readonly days: number | undefined;
}

function Make({ what, onClose }: { what: 'token' | 'link'; onClose: () => void }) {
  const [limited, setLimited] = useState<string[]>([]);
  const choices = useBrandChoices(limited);
  const [role, setRole] = useState<TokenRow['role']>('viewer');
  const [made, setMade] = useState<string>();
  const make = useAct(
    async ({ days, ...grant }: Grant) =>
      what === 'token'
        ? (await call('tokens.create', { ...grant, days })).token
        : (await call('tokens.sign_in_link', { ...grant, role: grant.role as Role })).url,
    (value) => {
      setMade(value);
      return undefined;
    },
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const days = Number(form.get('days'));
    make.mutate({
      name: String(form.get('name')),
      role,
      integrations: limited.length > 0 ? limited : null,
      days: days > 0 ? days : undefined,
    });
  };
  return (
    <Modal opened onClose={onClose} title={what === 'token' ? 'New token for a program' : 'New one-time sign-in link'}>
      {made ? (
        <div className="stack">
          <Notice tone="warn" title="It is shown only once">
            Copy it now. Only its hash is stored.
          </Notice>
          <Copyable text={made} label={what} />
          <div>
            <Button onClick={onClose}>Done</Button>
          </div>
        </div>
      ) : (
        <form onSubmit={submit} className="form">
          <TextInput name="name" label="Who or what it is for" required maxLength={100} />
          <Select
            label="Role"
            value={role}
            onChange={(chosen) => setRole((chosen ?? 'viewer') as TokenRow['role'])}
            data={[
              ...(what === 'token' ? [{ value: 'feed', label: 'Feed: reads the feed of changes, nothing else' }] : []),
              { value: 'viewer', label: 'Viewer: sees everything, guest data masked' },
              { value: 'operator', label: 'Operator: also runs, replays, acknowledges' },
              { value: 'admin', label: 'Admin: also changes documents, secrets and tokens' },
            ]}
          />
          <MultiSelect
            {...choices}
            label="Brands (leave empty for all)"
            value={limited}
            onChange={setLimited}
            searchable
          />
          {what === 'token' && (
            <TextInput
              name="days"
              type="number"
              min={1}
              max={3650}
              label="Expires after days (leave empty for never)"
            />
          )}
          <DialogButtons onCancel={onClose}>
            <Button type="submit" loading={make.isPending}>
              Create
            </Button>
          </DialogButtons>
        </form>
      )}
    </Modal>
  );
}
