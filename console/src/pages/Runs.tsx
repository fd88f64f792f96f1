import { Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEvery } from '../api/live.ts';
import { usePages } from '../api/query.tsx';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head } from '../parts/basics.tsx';
import { RunTable } from '../parts/Runs.tsx';
import { runStatuses } from '../shell/filters.ts';

const route = getRouteApi('/console/runs');

export function Runs() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { rows, error, more } = usePages('runs.list', { ...search, limit: 30 }, useEvery(3));
  return (
    <>
      <Head title="Runs" lead="Every pull of a partner’s list: complete, or with what is missing." />
      <div className="filters">
        <BrandSelect
          value={search.integration}
          onChange={(integration) => void navigate({ search: { ...search, integration } })}
        />
        <Select
          label="Status"
          value={search.status ?? ''}
          onChange={(status) => void navigate({ search: { ...search, status: status || undefined } })}
          data={[{ value: '', label: 'Any' }, ...runStatuses.map((value) => ({ value, label: value }))]}
        />
      </div>
      <Card flush>
        <RunTable
          runs={rows}
          error={error}
          empty={
            <Empty title="No run matches" action={<Link to="/integrations">See the brands</Link>}>
              Runs start on their schedule. To start one now, open the brand’s page.
            </Empty>
          }
        />
        {more}
      </Card>
    </>
  );
}
