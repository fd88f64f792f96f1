import { Button, Modal, MultiSelect, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { get, part, post, remove } from '../api/client.ts';
import type { Role, TokenRow } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { useBrands } from '../parts/BrandSelect.tsx';
import { Ago, Card, Empty, Head, Loaded, Notice, State } from '../parts/basics.tsx';
import { Copyable } from '../parts/data.tsx';

const kinds = { api: 'Token', sign_in: 'Sign-in link', session: 'Session' };

export function Tokens() {
  const [making, setMaking] = useState<'token' | 'link'>();
  const query = useQuery({ queryKey: ['tokens'], queryFn: () => get<{ items: TokenRow[] }>('/tokens') });
  const revoke = useAct(
    (id: string) => remove(`/tokens/${part(id)}`),
    () => 'Revoked, with the sessions made from it.',
  );
  return (
    <>
      <Head title="Tokens" lead="Who may look, act and decide. Only hashes are kept: a token is shown once.">
        <Button onClick={() => setMaking('token')}>New token</Button>
        <Button variant="default" onClick={() => setMaking('link')}>
          Sign-in link
        </Button>
      </Head>
      <Loaded query={query}>
        {({ items }) => (
          <Card flush>
            {items.length === 0 ? (
              <Empty title="No token counts" />
            ) : (
              <table className="list folds">
                <thead>
                  <tr>
                    <th scope="col">For</th>
                    <th scope="col">Role</th>
                    <th scope="col">Brands</th>
                    <th scope="col">Last used</th>
                    <th scope="col">Ends</th>
                    <th scope="col">
                      <span className="visually-hidden">Revoke</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((token) => (
                    <tr key={token.token_id}>
                      <td>
                        <strong>{token.name}</strong>
                        <div className="muted small">
                          {kinds[token.kind]}, by {token.created_by}
                        </div>
                      </td>
                      <td>
                        <State of={token.role} tone={token.role === 'admin' ? 'brass' : 'info'} />
                      </td>
                      <td data-label="Brands">{token.integrations?.join(', ') ?? 'all'}</td>
                      <td data-label="Used">
                        <Ago at={token.last_used_at} />
                      </td>
                      <td data-label="Ends">
                        <Ago at={token.expires_at} none="no end" />
                      </td>
                      <td>
                        <Button
                          size="compact-sm"
                          variant="default"
                          aria-label={`Revoke ${token.name}`}
                          onClick={() => revoke.mutate(token.token_id)}
                        >
                          Revoke
                        </Button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Card>
        )}
      </Loaded>
      {making && <Make what={making} onClose={() => setMaking(undefined)} />}
    </>
  );
}

function Make({ what, onClose }: { what: 'token' | 'link'; onClose: () => void }) {
  const brands = useBrands();
  const [limited, setLimited] = useState<string[]>([]);
  const [role, setRole] = useState<Role>('viewer');
  const [made, setMade] = useState<string>();
  const make = useAct(
    (grant: { name: string; role: Role; integrations: string[] | null; days?: number }) =>
      post<{ token?: string; url?: string }>(what === 'token' ? '/tokens' : '/sign-in-links', grant),
    (answer) => {
      setMade(answer.token ?? answer.url);
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
      ...(what === 'token' && days > 0 && { days }),
    });
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={what === 'token' ? 'A token for a program' : 'A link that signs a person in once'}
    >
      {made ? (
        <div className="stack">
          <Notice tone="warn" title="It is shown only now">
            Copy it to where it is used. Only its hash is kept here.
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
            onChange={(chosen) => setRole((chosen ?? 'viewer') as Role)}
            data={[
              { value: 'viewer', label: 'Viewer: looks' },
              { value: 'operator', label: 'Operator: also runs, replays, acknowledges' },
              { value: 'admin', label: 'Admin: also decides who may' },
            ]}
          />
          <MultiSelect
            label="Only for these brands (none chosen: all)"
            data={brands.map(({ name }) => name)}
            value={limited}
            onChange={setLimited}
            searchable
          />
          {what === 'token' && (
            <TextInput name="days" type="number" min={1} max={3650} label="Ends after days (empty: never)" />
          )}
          <div>
            <Button type="submit" loading={make.isPending}>
              Make it
            </Button>
          </div>
        </form>
      )}
    </Modal>
  );
}
