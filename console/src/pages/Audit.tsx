import { Button, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { usePages } from '../api/query.tsx';
import { auditText } from '../parts/actions.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head, State } from '../parts/basics.tsx';
import { clockOf, instant } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';

const route = getRouteApi('/console/audit');

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
              head: 'What',
              phone: 'line',
              cell: (row) => (
                <>
                  <strong>{row.actor}</strong> {auditText(row)}
                  <div className="muted small">
                    <code>{row.action}</code> {row.address}
                  </div>
                </>
              ),
            },
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
