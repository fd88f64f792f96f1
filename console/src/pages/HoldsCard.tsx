import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import { useAct, useApi } from '../api/query.tsx';
import { Ago, Card, Empty, Failure, Loading, State } from '../parts/basics.tsx';
import { capital, plural } from '../parts/format.ts';
import { BrandLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';

/** What is held back as a mistake of a partner, of all brands or of one; nothing where nothing is held. */
export function HoldsCard({ integration }: { integration?: string }) {
  const [previewed, setPreviewed] = useState<string>();
  const { data } = useApi(
    'holds.list',
    { state: 'open', ...(integration && { integration }) },
    { everyMs: useEvery(5) },
  );
  const operator = useMay('operator');
  const release = useAct(
    (hold_id: string) => call('holds.release', { hold_id }),
    ({ released }) => `The held values of ${plural(released, 'booking')} count now.`,
  );
  const refuse = useAct(
    (hold_id: string) => call('holds.refuse', { hold_id }),
    ({ refused }) => `The held values of ${plural(refused, 'booking')} are refused; the stored ones stay.`,
  );
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Card title="Held back" flush>
      <Table
        label="Held back"
        rows={data.items}
        rowKey={({ id }) => id}
        empty={<Empty title="Nothing is held" />}
        columns={[
          {
            head: 'What',
            phone: 'line',
            cell: (hold) => (
              <>
                <strong>{capital(hold.message)}</strong>{' '}
                {integration === undefined && <BrandLink name={hold.integration} />}
                <div className="muted small">
                  The stored values stay. It ends by itself when the partner’s answers are normal again.
                </div>
                {previewed === hold.id && <Preview id={hold.id} />}
              </>
            ),
          },
          { head: 'Rows', phone: 'labelled', cell: ({ waiting }) => waiting },
          { head: 'Since', cell: ({ at }) => <Ago at={at} /> },
          { head: 'State', cell: () => <State of="attention" label="Held" /> },
          {
            head: 'Decide',
            silent: true,
            cell: ({ id }) =>
              operator && (
                <Group gap="xs">
                  <Button size="compact-sm" variant="default" onClick={() => setPreviewed(id)}>
                    Preview
                  </Button>
                  <Button
                    size="compact-sm"
                    variant="default"
                    loading={release.isPending && release.variables === id}
                    onClick={() => release.mutate(id)}
                  >
                    Release all
                  </Button>
                  <Button
                    size="compact-sm"
                    variant="default"
                    loading={refuse.isPending && refuse.variables === id}
                    onClick={() => refuse.mutate(id)}
                  >
                    Refuse
                  </Button>
                </Group>
              ),
          },
        ]}
      />
    </Card>
  );
}

/** What a release would change, and the line of the mapping that would read a lost field again. */
function Preview({ id }: { id: string }) {
  const { data, error } = useApi('holds.preview', { hold_id: id });
  const all = useSeesAllBrands();
  if (data === undefined) return error ? <Failure error={error} /> : <Loading />;
  return (
    <>
      {data.remedy && (
        <p>
          The field is probably renamed: map <code>{data.remedy.path}</code> from <code>{data.remedy.from}</code>. The
          held values are then read again.{' '}
          {all && (
            <Link
              to="/studio"
              search={{
                connector: data.remedy.connector,
                hold: id,
                field: data.remedy.path,
                path: data.remedy.from,
              }}
            >
              Try it in the studio
            </Link>
          )}
        </p>
      )}
      <ul className="small">
        {data.rows.slice(0, 5).map(({ reservation_id, diff }) => (
          <li key={reservation_id}>
            {reservation_id}: {changesOf(diff)}
          </li>
        ))}
      </ul>
    </>
  );
}

const changesOf = (diff: readonly { path: string; before?: unknown; after?: unknown }[]): string =>
  diff.map(({ path, before, after }) => `${path}: ${text(before)} → ${text(after)}`).join(', ') || 'no change';

const text = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value));
