import { Link } from '@tanstack/react-router';
import { useApi } from '../api/query.tsx';
import { Card, Empty, Head, RelativeTime } from '../parts/basics.tsx';
import { capital } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';
import { SpellingsCard } from './SpellingsCard.tsx';

export function Documents() {
  const query = useApi('documents.list', {});
  return (
    <>
      <Head
        title="Documents"
        lead="Connectors, integrations and destinations: the same files as in the workspace, with every version kept."
      />
      <SpellingsCard />
      <Card flush>
        <Table
          label="Documents"
          rows={query.data?.items}
          error={query.error}
          rowKey={({ kind, name }) => `${kind} ${name}`}
          find={({ kind, name }) => `${kind} ${name}`}
          empty={<Empty title="No document is in force">Add one to the workspace, or connect a brand here.</Empty>}
          columns={[
            {
              head: 'Document',
              sortBy: ({ name }) => name,
              cell: ({ kind, name }) => (
                <Link to="/documents/$kind/$name" params={{ kind, name }} className="name">
                  {name}
                </Link>
              ),
            },
            { head: 'Kind', sortBy: ({ kind }) => kind, cell: ({ kind }) => capital(kind) },
            { head: 'Version', kind: 'number', cell: ({ version }) => version },
            {
              head: 'Applied',
              sortBy: ({ applied_at }) => applied_at,
              cell: ({ applied_at, applied_by }) => (
                <>
                  <RelativeTime at={applied_at} /> <span className="muted small">by {applied_by}</span>
                </>
              ),
            },
          ]}
        />
      </Card>
    </>
  );
}
