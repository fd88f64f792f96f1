import { Button, Modal, PasswordInput, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { get, part, put, remove } from '../api/client.ts';
import type { SecretRow } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { Ago, Card, Empty, Head, Loaded, Notice } from '../parts/basics.tsx';
import { plural } from '../parts/format.ts';

type Asked = { readonly what: 'set'; readonly name: string } | { readonly what: 'delete'; readonly secret: SecretRow };

export function Secrets() {
  const [asked, setAsked] = useState<Asked>();
  const query = useQuery({ queryKey: ['secrets'], queryFn: () => get<{ items: SecretRow[] }>('/secrets') });
  const close = () => setAsked(undefined);
  return (
    <>
      <Head
        title="Secrets"
        lead="What documents refer to as ${secret:name}. Kept sealed: a value goes in and is never shown again."
      >
        <Button onClick={() => setAsked({ what: 'set', name: '' })}>New secret</Button>
      </Head>
      <Loaded query={query}>
        {({ items }) => (
          <Card flush>
            {items.length === 0 ? (
              <Empty title="No secret is kept here">
                Documents may also take theirs from the environment or from files.
              </Empty>
            ) : (
              <table className="list folds">
                <thead>
                  <tr>
                    <th scope="col">Name</th>
                    <th scope="col">Used by</th>
                    <th scope="col">Set</th>
                    <th scope="col">
                      <span className="visually-hidden">Change</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((secret) => (
                    <Row key={secret.name} secret={secret} onAsk={setAsked} />
                  ))}
                </tbody>
              </table>
            )}
          </Card>
        )}
      </Loaded>
      {asked?.what === 'set' && <SetSecret name={asked.name} onClose={close} />}
      {asked?.what === 'delete' && <DeleteSecret secret={asked.secret} onClose={close} />}
    </>
  );
}

function Row({ secret, onAsk }: { secret: SecretRow; onAsk: (asked: Asked) => void }) {
  const { name, used_by, updated_at } = secret;
  return (
    <tr>
      <td className="mono">{name}</td>
      <td data-label="Used by">
        <Users secret={secret} />
        {used_by.length === 0 && <span className="muted">no document</span>}
      </td>
      <td data-label="Set">
        <Ago at={updated_at} />
      </td>
      <td>
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
      </td>
    </tr>
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
    (form: FormData) => put(`/secrets/${part(String(form.get('name')))}`, { value: String(form.get('value')) }),
    (_, form) => {
      onClose();
      return `${form.get('name')} is kept; whatever refers to it uses it from now on.`;
    },
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    set.mutate(new FormData(event.currentTarget));
  };
  return (
    <Modal opened onClose={onClose} title={name === '' ? 'A new secret' : `A new value for ${name}`}>
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
        <div>
          <Button type="submit" loading={set.isPending}>
            Keep it
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function DeleteSecret({ secret, onClose }: { secret: SecretRow; onClose: () => void }) {
  const { name, used_by } = secret;
  const drop = useAct(
    () => remove(`/secrets/${part(name)}`),
    () => {
      onClose();
      return `${name} is forgotten.`;
    },
  );
  return (
    <Modal opened onClose={onClose} title={`Forget ${name}`}>
      <div className="stack">
        {used_by.length > 0 ? (
          <Notice tone="bad" title={`${plural(used_by.length, 'document')} in force refer to it`}>
            Without it they cannot work: <Users secret={secret} />.
          </Notice>
        ) : (
          <p>No document in force refers to it. It cannot be brought back.</p>
        )}
        <div className="row">
          <Button data-danger onClick={() => drop.mutate(undefined)} loading={drop.isPending}>
            Forget it
          </Button>
          <Button variant="default" onClick={onClose}>
            Keep it
          </Button>
        </div>
      </div>
    </Modal>
  );
}
