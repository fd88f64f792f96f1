import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useEvery } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import type { Overview as Data } from '../api/types.ts';
import { BrandState } from '../parts/BrandState.tsx';
import { Card, Empty, Head, Loaded, Notice, RelativeTime } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { checksOf, standing } from '../parts/claims.ts';
import { faultsOf, isOf, uncovered, worst } from '../parts/faults.ts';
import { BrandLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';
import { Causes } from './overview/Causes.tsx';
import { Flow } from './overview/Flow.tsx';
import { type Period, periodLabels, periodMs } from './overview/periods.ts';

export function Overview() {
  const [period, setPeriod] = useState<Period>('15m');
  const query = useApi('overview.get', { period }, { everyMs: useEvery(5), keep: true });
  return (
    <>
      <Head title="Overview" lead={query.data && <Standing data={query.data} />}>
        <Choice small label="Period" options={periodLabels} value={period} onChange={setPeriod} />
      </Head>
      <Loaded query={query}>
        {(data) => (
          <div className="stack">
            {data.broken.map(({ document, message }) => (
              <Notice key={document} tone="bad" title={`${document} cannot be used`}>
                {message}
              </Notice>
            ))}
            <Causes data={data} />
            <Flow data={data} periodMs={periodMs[period]} />
            <Health data={data} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Standing({ data }: { data: Data }) {
  return (
    <>
      {standing({ ...data, wrong: faultsOf(data).count }).text}{' '}
      <span className="nowrap">
        Checked <RelativeTime at={data.checked_at} />.
      </span>
    </>
  );
}

function Health({ data }: { data: Data }) {
  const all = useSeesAllBrands();
  const admin = useMay('admin') && all;
  const { everywhere, shown } = faultsOf(data);
  const stated = [...everywhere.causes, ...shown.causes];
  const health = data.health.toSorted((a, b) => worst[b.state] - worst[a.state]);
  return (
    <Card title="Health of each brand" flush>
      <Table
        label="Health of each brand"
        rows={health}
        rowKey={({ integration }) => integration}
        find={({ integration }) => integration}
        empty={
          <Empty title="No brand is connected" action={admin && <Link to="/onboard">Connect the first one</Link>}>
            A brand needs a connector, a base URL with credentials, and a destination.
          </Empty>
        }
        columns={[
          {
            head: 'Brand',
            cell: ({ integration }) => <BrandLink name={integration} lead />,
          },
          { head: 'State', cell: (brand) => <BrandState brand={brand} /> },
          {
            head: 'Why',
            phone: 'line',
            cell: (brand) => <Why brand={brand} causes={stated} />,
          },
        ]}
      />
    </Card>
  );
}

/** A cause that is stated above is named, not repeated for each brand; one that is folded there is stated here. */
function Why(props: { brand: Data['health'][number]; causes: Data['causes'] }) {
  const causes = props.causes.filter((cause) => props.brand.findings.some((finding) => isOf(cause, finding)));
  const others = uncovered(props.brand, props.causes).map(({ message }) => message);
  if (causes.length + others.length === 0) {
    return <span className="muted">{checksOf(props.brand).text}</span>;
  }
  return (
    <span className="muted">
      {causes.map(({ incident_id, title }) => (
        <span key={incident_id}>
          <Link to="/incidents/$id" params={{ id: incident_id }}>
            {title}
          </Link>
          .{' '}
        </span>
      ))}
      {others.join(' ')}
    </span>
  );
}
