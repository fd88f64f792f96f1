import { Autocomplete, Button, Group } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';

import { useAct, useApi } from '../api/query.tsx';
import type { UnknownSpelling } from '../api/types.ts';
import { Card, RelativeTime } from '../parts/basics.tsx';
import { number, plural } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';
import { useMay } from '../shell/session.ts';

/** Channels, sources and boards that no brand's connector and not the workspace knows; nothing where all are known. */
export function SpellingsCard() {
  const query = useApi('spellings.unknown', {});
  if (query.data === undefined || query.data.items.length === 0) return null;
  return (
    <Card title="Unknown spellings" aside="of all brands; those added here hold for all of them" flush>
      <Table
        label="Unknown spellings"
        rows={query.data.items}
        rowKey={({ field, value }) => `${field} ${value}`}
        columns={[
          { head: 'Field', cell: ({ field }) => field },
          { head: 'Spelling', kind: 'code', cell: ({ value }) => value },
          { head: 'Times', kind: 'number', sortBy: ({ times }) => times, cell: ({ times }) => number(times) },
          {
            head: 'Brands',
            cell: ({ brands }) => (brands.length > 2 ? plural(brands.length, 'brand') : brands.join(', ')),
          },
          { head: 'Last', cell: ({ last_at }) => <RelativeTime at={last_at} /> },
          { head: 'Means', silent: true, cell: (one) => <Add one={one} /> },
        ]}
      />
    </Card>
  );
}

function Add({ one: { field, value, known, likely } }: { one: UnknownSpelling }) {
  const [as, setAs] = useState(likely ?? '');
  const add = useAct(
    () => call('spellings.add', { field, value, as }),
    () => `${value} means ${as} for all brands.`,
  );
  if (!useMay('admin')) return null;
  return (
    <Group gap="xs" wrap="nowrap">
      <Autocomplete size="xs" aria-label={`What ${value} means`} data={known} value={as} onChange={setAs} />
      <Button size="compact-xs" disabled={as === ''} loading={add.isPending} onClick={() => add.mutate(undefined)}>
        Add
      </Button>
    </Group>
  );
}
