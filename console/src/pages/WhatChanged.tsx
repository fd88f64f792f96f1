import { useApi } from '../api/query.tsx';
import type { Mark, Overview } from '../api/types.ts';
import { actionText } from '../parts/actions.ts';
import { Card, Empty, RelativeTime } from '../parts/basics.tsx';
import { Table } from '../parts/Table.tsx';
import { useMay } from '../shell/session.ts';

/** What people changed in the period, and nodes that started, newest first. Empty for those who may not see it. */
export function useMarks(period: '15m' | '1h' | '24h' | '7d', nodes: Overview['nodes']): readonly Mark[] {
  const operator = useMay('operator');
  const { data } = useApi('overview.marks', { period }, { enabled: operator, everyMs: 30_000, keep: true });
  const started = nodes.map(({ node, started_at }) => ({
    at: started_at,
    actor: node,
    action: 'node.start',
    integration: null,
    what: '',
  }));
  return [...(data?.items ?? []), ...started].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

/** The marks of the curves in words. */
export function WhatChanged({ marks }: { marks: readonly Mark[] }) {
  return (
    <Card title="What changed" aside="marked in the curves above" flush>
      <Table
        label="What changed"
        tall
        rows={marks.slice(0, 30)}
        rowKey={({ at, action, actor, what }) => `${at} ${action} ${actor} ${what}`}
        empty={<Empty small title="Nobody changed anything in this period" />}
        columns={[
          { head: 'At', cell: ({ at }) => <RelativeTime at={at} /> },
          {
            head: 'What',
            cell: (mark) => actionText(mark),
          },
          { head: 'By', cell: ({ actor }) => actor },
        ]}
      />
    </Card>
  );
}
