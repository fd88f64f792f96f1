import { Button, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { usePages } from '../api/query.tsx';
import type { Json } from '../api/types.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head, State } from '../parts/basics.tsx';
import { clockOf, instant, shown } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';

const route = getRouteApi('/desk/audit');

export function Audit() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { rows, error, more } = usePages('audit.list', { ...search, limit: 60 }, 15_000);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = (key: string) => String(form.get(key) ?? '').trim() || undefined;
    void navigate({ search: { ...search, actor: given('actor'), action: given('action') } });
  };
  return (
    <>
      <Head title="Audit" lead="Who did what, and who opened guest data. Entries cannot be edited." />
      <form className="filters" onSubmit={submit}>
        <TextInput name="actor" label="Who" defaultValue={search.actor} />
        <TextInput name="action" label="Action" defaultValue={search.action} placeholder="dead_letters.replay" />
        <BrandSelect
          value={search.integration}
          onChange={(integration) => void navigate({ search: { ...search, integration } })}
        />
        <Button type="submit" variant="default">
          Filter
        </Button>
      </form>
      <Card flush>
        <Table
          label="Audit"
          rows={rows}
          error={error}
          rowKey={({ audit_id }) => String(audit_id)}
          empty={<Empty title="No entry matches" />}
          columns={[
            {
              head: 'When',
              cell: ({ at }) => (
                <span className="nowrap num" title={instant(at)}>
                  {clockOf(at)}
                </span>
              ),
            },
            {
              head: 'Who',
              cell: ({ actor, address }) => (
                <>
                  {actor} <span className="muted small">{address}</span>
                </>
              ),
            },
            { head: 'Action', kind: 'code', cell: ({ action }) => action },
            { head: 'Target', cell: (row) => <span className="small">{targetOf(row)}</span> },
            {
              head: 'Answer',
              cell: ({ status }) =>
                status !== null && <State of={status < 400 ? 'done' : 'failed'} label={String(status)} />,
            },
          ]}
        />
        {more}
      </Card>
    </>
  );
}

function targetOf({ integration, target }: { integration: string | null; target: Json }): string {
  const named = target !== null && typeof target === 'object' && !Array.isArray(target) ? Object.entries(target) : [];
  const values = named.filter(([key]) => key !== 'integration').map(([, value]) => shown(value));
  return [integration, ...values].filter(Boolean).join(' ');
}
