import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { get, part } from '../api/client.ts';
import type { RunDetail } from '../api/types.ts';
import { Ago, Card, Empty, Head, Loaded, meaning, Notice, State } from '../parts/basics.tsx';
import { bytes, clockOf, number, span, syncName } from '../parts/format.ts';
import { Progress, tookMs } from '../parts/Runs.tsx';

const route = getRouteApi('/desk/runs/$id');

export function Run() {
  const { id } = route.useParams();
  const query = useQuery({
    queryKey: ['run', id],
    queryFn: ({ signal }) => get<RunDetail>(`/runs/${part(id)}`, undefined, signal),
    refetchInterval: ({ state }) => (state.data?.finished_at ? false : 1_000),
  });
  return (
    <Loaded query={query} head={<Head title="Run" crumb={<Link to="/runs">Runs</Link>} />}>
      {(run) => (
        <>
          <Head
            title={`${syncName(run.sync)} of ${run.integration}`}
            crumb={<Link to="/runs">Runs</Link>}
            lead={
              <span className="row">
                <State of={run.status} />
                <span>
                  {run.kind}, by {run.requested_by}, <Ago at={run.started_at ?? run.queued_at} />
                  {run.from && `, days ${run.from} to ${run.to}`}
                </span>
              </span>
            }
          />
          <div className="stack">
            <Progress run={run} />
            {run.error_code && (
              <Notice tone="bad" title={run.error_message ?? run.error_code}>
                {meaning(run.error_code)?.next} <code>{run.error_code}</code>
              </Notice>
            )}
            {run.findings.map(({ code, message }) => (
              <Notice key={`${code}${message}`} tone="warn" title={message}>
                {meaning(code)?.next} <code>{code}</code>
              </Notice>
            ))}
            <Tally run={run} />
            <Windows run={run} />
          </div>
        </>
      )}
    </Loaded>
  );
}

function Tally({ run }: { run: RunDetail }) {
  const took = tookMs(run);
  const figures: [string, string][] = [
    ['Fetched', number(run.fetched)],
    ['Changed', number(run.changed)],
    ['Unchanged', number(run.unchanged)],
    ['Not for this sync', number(run.skipped)],
    ['Dead letters', number(run.dead_lettered)],
    ['Took', took === undefined ? '–' : span(took)],
  ];
  return (
    <>
      <div className="figures">
        {figures.map(([label, value]) => (
          <div
            key={label}
            className="figure"
            data-tone={label === 'Dead letters' && run.dead_lettered > 0 ? 'bad' : undefined}
          >
            <span className="label">{label}</span>
            <span className="value">{value}</span>
          </div>
        ))}
      </div>
      <p className="small muted">
        {number(run.requests)} requests, {number(run.retries)} tried again, {number(run.pages)} pages,{' '}
        {number(run.rows)} rows, {bytes(run.bytes)}, waited {span(run.waited_ms)}, {number(run.superseded)} older than
        what is known, {number(run.dropped)} dropped by rules. Connector v{run.connector_version}, integration v
        {run.integration_version}. <code>{run.run_id}</code>
      </p>
    </>
  );
}

function Windows({ run }: { run: RunDetail }) {
  return (
    <Card title="Windows" aside="each a pair of days that was asked for" flush>
      {run.windows.length === 0 ? (
        <Empty title="Nothing was asked yet" />
      ) : (
        <div className="table-wrap">
          <table className="list folds">
            <thead>
              <tr>
                <th scope="col">Days</th>
                <th scope="col">Asked</th>
                <th scope="col" className="right">
                  Pages
                </th>
                <th scope="col" className="right">
                  Rows
                </th>
                <th scope="col" className="right">
                  New
                </th>
                <th scope="col" className="right">
                  Changed
                </th>
                <th scope="col" className="right">
                  Passes
                </th>
                <th scope="col" className="right">
                  Slowest page
                </th>
              </tr>
            </thead>
            <tbody>
              {run.windows.map((window) => (
                <tr key={`${window.from} ${window.to}`}>
                  <td className="nowrap num whole">
                    {window.from} – {window.to}
                  </td>
                  <td className="num" data-label="Asked">
                    {clockOf(window.asked_at)}
                  </td>
                  <td className="right" data-label="Pages">
                    {number(window.pages)}
                  </td>
                  <td className="right" data-label="Rows">
                    {number(window.rows)}
                  </td>
                  <td className="right" data-label="New">
                    {number(window.fresh)}
                  </td>
                  <td className="right" data-label="Changed">
                    {number(window.changed)}
                  </td>
                  <td className="right" data-label="Passes">
                    {number(window.passes)}
                  </td>
                  <td className="right" data-label="Slowest">
                    {span(window.longest_ms)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
