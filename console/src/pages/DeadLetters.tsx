import { Button, Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { post } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import type { DeadLetter, Page, ReplayResult } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Ago, Card, Empty, Head, Loaded, State } from '../parts/basics.tsx';
import { capital, number, plural } from '../parts/format.ts';
import { usePages } from '../parts/paging.tsx';
import { useMay } from '../shell/session.ts';

const route = getRouteApi('/desk/dead-letters');

export function DeadLetters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const operator = useMay('operator');
  const { query, all, first, more } = usePages<DeadLetter, Page<DeadLetter> & { total: number }>(
    'dead-letters',
    '/dead-letters',
    { ...search, limit: 50 },
    useEvery(8),
  );
  const { state: _, ...filter } = search;
  const replay = useAct(
    () => post<{ results: ReplayResult[]; remaining: number }>('/dead-letters/replay', filter),
    ({ results, remaining }) => {
      const done = results.filter(({ result }) => result === 'replayed').length;
      return `${number(done)} replayed, ${number(results.length - done)} would still fail, ${number(remaining)} still open.`;
    },
  );
  const open = (search.state ?? 'open') === 'open';
  return (
    <>
      <Head
        title="Dead letters"
        lead="What failed for good, kept whole. Fix the cause, look at the difference, replay."
      >
        {operator && open && all.length > 0 && (
          <Button onClick={() => replay.mutate(undefined)} loading={replay.isPending}>
            Replay {first && first.total > 200 ? 'the first 200' : `all ${number(first?.total ?? all.length)}`}
          </Button>
        )}
      </Head>
      <div className="filters">
        <Select
          label="State"
          value={search.state ?? 'open'}
          onChange={(state) =>
            void navigate({ search: { ...search, state: state === 'open' ? undefined : (state ?? undefined) } })
          }
          data={['open', 'replayed', 'dropped', 'all'].map((value) => ({ value, label: capital(value) }))}
        />
        <BrandSelect
          value={search.integration}
          onChange={(integration) => void navigate({ search: { ...search, integration } })}
        />
        <Select
          label="What failed"
          value={search.kind ?? ''}
          onChange={(kind) => void navigate({ search: { ...search, kind: kind || undefined } })}
          data={[
            { value: '', label: 'Anything' },
            { value: 'event', label: 'Events' },
            { value: 'record', label: 'Records' },
            { value: 'delivery', label: 'Deliveries' },
          ]}
        />
        {(search.code || search.destination) && (
          <Button
            variant="default"
            onClick={() => void navigate({ search: { ...search, code: undefined, destination: undefined } })}
          >
            Only {search.code ?? search.destination} ✕
          </Button>
        )}
      </div>
      <Loaded query={query}>
        {() => (
          <Card title={plural(first?.total ?? 0, 'letter')} aside="the oldest first" flush>
            {all.length === 0 ? (
              <Empty title={open ? 'Nothing is dead' : 'None in this state'}>
                {open
                  ? 'Everything that came in became a record or was refused at the door, and every delivery found its way.'
                  : ''}
              </Empty>
            ) : (
              <List letters={all} />
            )}
            {more}
          </Card>
        )}
      </Loaded>
    </>
  );
}

function List({ letters }: { letters: readonly DeadLetter[] }) {
  return (
    <div className="table-wrap">
      <table className="list folds">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">State</th>
            <th scope="col">Why</th>
            <th scope="col">Brand</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {letters.map((letter) => (
            <tr key={letter.id}>
              <td>
                <Link to="/dead-letters/$id" params={{ id: letter.id }} className="name">
                  {capital(letter.kind)} {letter.record_id ?? `#${letter.id}`}
                </Link>
                {letter.destination && <div className="muted small">to {letter.destination}</div>}
              </td>
              <td>
                <State of={letter.state} />
              </td>
              <td className="whole">
                {letter.message}
                <div className="muted small">
                  <Link to="/dead-letters" search={{ code: letter.code }}>
                    {letter.code}
                  </Link>
                  {letter.times > 1 && `, ${number(letter.times)} times`}
                </div>
              </td>
              <td>{letter.integration}</td>
              <td>
                <Ago at={letter.at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
