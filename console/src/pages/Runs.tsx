import { Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEvery } from '../api/live.ts';
import type { Run } from '../api/types.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head, Loaded } from '../parts/basics.tsx';
import { usePages } from '../parts/paging.tsx';
import { RunTable } from '../parts/Runs.tsx';

const route = getRouteApi('/desk/runs');
const statuses = ['running', 'queued', 'complete', 'incomplete', 'failed'];

export function Runs() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { query, all, more } = usePages<Run>('runs', '/runs', { ...search, limit: 30 }, useEvery(3));
  return (
    <>
      <Head title="Runs" lead="Each time a partner’s list was pulled: complete, or saying what is missing." />
      <div className="filters">
        <BrandSelect
          value={search.integration}
          onChange={(integration) => void navigate({ search: { ...search, integration } })}
        />
        <Select
          label="Status"
          value={search.status ?? ''}
          onChange={(status) => void navigate({ search: { ...search, status: status || undefined } })}
          data={[{ value: '', label: 'Any' }, ...statuses.map((value) => ({ value, label: value }))]}
        />
      </div>
      <Loaded query={query}>
        {() => (
          <Card flush>
            {all.length === 0 ? (
              <Empty title="No run matches" action={<Link to="/integrations">See the brands</Link>}>
                Runs start on their schedule; a brand’s page can start one now.
              </Empty>
            ) : (
              <RunTable runs={all} />
            )}
            {more}
          </Card>
        )}
      </Loaded>
    </>
  );
}
