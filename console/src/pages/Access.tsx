import { Button, Modal, MultiSelect, Select, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, usePages } from '../api/query.tsx';
import type { Role, TokenRow } from '../api/types.ts';
import { useBrandChoices } from '../parts/BrandSelect.tsx';
import { Card, Notice, RelativeTime, State } from '../parts/basics.tsx';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { Copyable } from '../parts/data.tsx';
import { Sure } from '../parts/Sure.tsx';
import { Table } from '../parts/Table.tsx';

const kinds = { api: 'Token', sign_in: 'Sign-in link, not used yet', session: 'Signed in' };

/** Who has access, people or programs, with role and brands. */
export function AccessTable(props: { of: 'people' | 'programs'; empty: ReactNode }) {
  const { rows, error, more } = usePages('tokens.list', { of: props.of, limit: 100 }, false);
  const revoke = useAct(
    (token_id: string) => call('tokens.revoke', { token_id }),
    () => 'Revoked, together with its sessions.',
  );
  return (
    <Card flush>
      <Table
        label={props.of === 'people' ? 'People' : 'Tokens'}
        rows={rows}
        error={error}
        rowKey={({ token_id }) => token_id}
        empty={props.empty}
        columns={[
          {
            head: 'Name',
            cell: ({ name, kind, created_by, subject }) => (
              <>
                <strong>{name}</strong>
                <div className="muted small">
                  {kinds[kind]}
                  {subject !== null ? ' through the identity provider' : kind !== 'session' && `, by ${created_by}`}
                </div>
              </>
            ),
          },
          { head: 'Role', cell: ({ role }) => <State of={role} tone={role === 'admin' ? 'accent' : 'info'} /> },
          {
            head: 'Brands',
            phone: 'labelled',
            cell: ({ integrations }) => integrations?.join(', ') ?? 'all',
          },
          { head: 'Last used', phone: 'labelled', cell: ({ last_used_at }) => <RelativeTime at={last_used_at} /> },
          {
            head: 'Expires',
            phone: 'labelled',
            cell: ({ expires_at }) => <RelativeTime at={expires_at} none="never" />,
          },
          {
            head: 'Revoke',
            silent: true,
            cell: ({ token_id, name }) => (
              <Sure
                label="Revoke"
                of={name}
                title={`Revoke ${name}?`}
                size="compact-sm"
                onSure={() => revoke.mutate(token_id)}
              >
                It ends at once, with every session that was created from it, and cannot be given back.
              </Sure>
            ),
          },
        ]}
      />
      {more}
    </Card>
  );
}

interface Grant {
  readonly name: string;
  readonly role: TokenRow['role'];
  readonly integrations: string[] | null;
  readonly days: number | undefined;
}

const roles = [
  { value: 'viewer', label: 'Viewer: sees everything, guest data masked' },
  { value: 'operator', label: 'Operator: also runs, replays, acknowledges' },
  { value: 'admin', label: 'Admin: also changes documents, secrets and tokens' },
];
const feed = { value: 'feed', label: 'Feed: reads the feed of changes, nothing else' };

/** A sign-in link for a person, or a token for a program. Read-only unless somebody chooses more. */
export function Give({ what, onClose }: { what: 'token' | 'link'; onClose: () => void }) {
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
    <Modal opened onClose={onClose} title={what === 'token' ? 'New token for a program' : 'Invite a person'}>
      {made ? (
        <div className="stack">
          <Notice tone="warn" title="It is shown only once">
            {what === 'link' ? 'Send it to the person: it signs in once.' : 'Copy it now. Only its hash is stored.'}
          </Notice>
          <Copyable text={made} label={what} />
          <div>
            <Button onClick={onClose}>Done</Button>
          </div>
        </div>
      ) : (
        <form onSubmit={submit} className="form">
          <TextInput
            name="name"
            label={what === 'link' ? 'Name of the person' : 'What it is for'}
            required
            maxLength={100}
          />
          <Select
            label="Role"
            value={role}
            onChange={(chosen) => setRole((chosen ?? 'viewer') as TokenRow['role'])}
            data={what === 'token' ? [feed, ...roles] : roles}
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
