import { Button, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { AuditRow } from '../api/types.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head, Loaded, State } from '../parts/basics.tsx';
import { clockOf, instant, shown } from '../parts/format.ts';
import { usePages } from '../parts/paging.tsx';

const route = getRouteApi('/desk/audit');

export function Audit() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { query, all, more } = usePages<AuditRow>('audit', '/audit', { ...search, limit: 60 }, 15_000);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = (key: string) => String(form.get(key) ?? '').trim() || undefined;
    void navigate({ search: { ...search, actor: given('actor'), action: given('action') } });
  };
  return (
    <>
      <Head title="Audit" lead="Who did what, and who read payloads with guest data. No page and no call edits it." />
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
      <Loaded query={query}>
        {() => (
          <Card flush>
            {all.length === 0 ? (
              <Empty title="Nothing matches" />
            ) : (
              <table className="list folds">
                <thead>
                  <tr>
                    <th scope="col">When</th>
                    <th scope="col">Who</th>
                    <th scope="col">Action</th>
                    <th scope="col">On</th>
                    <th scope="col">Answer</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((row) => (
                    <tr key={row.audit_id}>
                      <td className="nowrap num" title={instant(row.at)}>
                        {clockOf(row.at)}
                      </td>
                      <td>
                        {row.actor} <span className="muted small">{row.address}</span>
                      </td>
                      <td className="mono">{row.action}</td>
                      <td className="small">
                        {[
                          row.integration,
                          ...Object.entries(row.target ?? {})
                            .filter(([key]) => key !== 'integration')
                            .map(([, value]) => shown(value)),
                        ]
                          .filter(Boolean)
                          .join(' ')}
                      </td>
                      <td>
                        {row.status !== null && (
                          <State of={row.status < 400 ? 'done' : 'failed'} label={String(row.status)} />
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
            {more}
          </Card>
        )}
      </Loaded>
    </>
  );
}
