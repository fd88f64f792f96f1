import { Button, Modal, PasswordInput, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, usePages } from '../api/query.tsx';
import type { SecretRow } from '../api/types.ts';
import { Card, Empty, Head, Notice, RelativeTime } from '../parts/basics.tsx';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { plural } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';

type Asked = { readonly what: 'set'; readonly name: string } | { readonly what: 'delete'; readonly secret: SecretRow };

export function Secrets() {
  const [asked, setAsked] = useState<Asked>();
  const [q, setQ] = useState('');
  const { rows, error, more } = usePages('secrets.list', { limit: 100, ...(q !== '' && { q }) }, false);
  const close = () => setAsked(undefined);
  return (
    <>
      <Head
        title="Secrets"
        lead="Values that documents refer to as ${secret:name}. Stored encrypted; a value is never shown again."
      >
        <Button onClick={() => setAsked({ what: 'set', name: '' })}>New secret</Button>
      </Head>
      <Card flush>
        {(more || q !== '') && (
          <div className="more">
            <TextInput label="Find by name" value={q} onChange={(event) => setQ(event.currentTarget.value.trim())} />
          </div>
        )}
        <Table
          label="Secrets"
          rows={rows}
          error={error}
          rowKey={({ name }) => name}
          empty={
            q !== '' ? (
              <Empty title="No secret contains this text" />
            ) : (
              <Empty title="No secret is stored here">
                Documents can also refer to environment variables and to files.
              </Empty>
            )
          }
          columns={[
            { head: 'Name', kind: 'code', cell: ({ name }) => name },
            {
              head: 'Used by',
              phone: 'labelled',
              cell: (secret) =>
                secret.used_by.length === 0 ? <span className="muted">no document</span> : <Users secret={secret} />,
            },
            { head: 'Set', phone: 'labelled', cell: ({ updated_at }) => <RelativeTime at={updated_at} /> },
            { head: 'Actions', silent: true, cell: (secret) => <Actions secret={secret} onAsk={setAsked} /> },
          ]}
        />
        {more}
      </Card>
      {asked?.what === 'set' && <SetSecret name={asked.name} onClose={close} />}
      {asked?.what === 'delete' && <DeleteSecret secret={asked.secret} onClose={close} />}
    </>
  );
}

function Actions({ secret, onAsk }: { secret: SecretRow; onAsk: (asked: Asked) => void }) {
  const { name } = secret;
  return (
    <span className="row end">
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Replace ${name}`}
        onClick={() => onAsk({ what: 'set', name })}
      >
        Replace
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Delete ${name}`}
        onClick={() => onAsk({ what: 'delete', secret })}
      >
        Delete
      </Button>
    </span>
  );
}

function Users({ secret }: { secret: SecretRow }) {
  return secret.used_by.map(({ kind, name }, index) => (
    <span key={`${kind} ${name}`}>
      {index > 0 && ', '}
      <Link to="/documents/$kind/$name" params={{ kind, name }}>
        {name}
      </Link>
    </span>
  ));
}

function SetSecret({ name, onClose }: { name: string; onClose: () => void }) {
  const set = useAct(
    (form: FormData) => call('secrets.put', { name: String(form.get('name')), value: String(form.get('value')) }),
    (_, form) => {
      onClose();
      return `${form.get('name')} is stored. Documents that refer to it use the new value from now on.`;
    },
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    set.mutate(new FormData(event.currentTarget));
  };
  return (
    <Modal opened onClose={onClose} title={name === '' ? 'New secret' : `New value for ${name}`}>
      <form className="form" onSubmit={submit}>
        <TextInput
          name="name"
          label="Name"
          description="letters, digits, . _ and -"
          defaultValue={name}
          readOnly={name !== ''}
          pattern="[A-Za-z0-9][\w.\-]{0,99}"
          required
        />
        <PasswordInput name="value" label="Value" autoComplete="off" required />
        <DialogButtons onCancel={onClose}>
          <Button type="submit" loading={set.isPending}>
            Save
          </Button>
        </DialogButtons>
      </form>
    </Modal>
  );
}

function DeleteSecret({ secret, onClose }: { secret: SecretRow; onClose: () => void }) {
  const { name, used_by } = secret;
  const drop = useAct(
    () => call('secrets.delete', { name }),
    () => {
      onClose();
      return `${name} is deleted.`;
    },
  );
  return (
    <Modal opened onClose={onClose} title={`Delete ${name}`}>
      <div className="stack">
        {used_by.length > 0 ? (
          <Notice tone="bad" title={`Used by ${plural(used_by.length, 'document')} in force`}>
            They stop working without it: <Users secret={secret} />.
          </Notice>
        ) : (
          <p>No document in force refers to it. This cannot be undone.</p>
        )}
        <DialogButtons onCancel={onClose}>
          <Button data-danger onClick={() => drop.mutate(undefined)} loading={drop.isPending}>
            Delete
          </Button>
        </DialogButtons>
      </div>
    </Modal>
  );
}
