import { Link } from '@tanstack/react-router';
import type { Run } from '../api/types.ts';
import { Ago, State } from './basics.tsx';
import { number, span, syncName } from './format.ts';

/** How far a run is. Partners seldom say how much there is, so it tells what was done, and that it moves. */
export function Progress({ run }: { run: Run }) {
  if (run.status !== 'running' && run.status !== 'queued') return null;
  return (
    <div className="stack" style={{ gap: 4 }}>
      <div className="bar" data-endless={run.status === 'running'} aria-hidden="true">
        <i />
      </div>
      <span className="small muted num">
        {run.waiting ? `waits: ${run.waiting}` : `${number(run.pages)} pages, ${number(run.rows)} rows so far`}
      </span>
    </div>
  );
}

export function tookMs(run: Run): number | undefined {
  if (!run.started_at) return undefined;
  return (run.finished_at ? Date.parse(run.finished_at) : Date.now()) - Date.parse(run.started_at);
}

export function RunTable({ runs, brand = true }: { runs: readonly Run[]; brand?: boolean }) {
  return (
    <div className="table-wrap">
      <table className="list folds">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            <th scope="col">Days</th>
            <th scope="col">Started</th>
            <th scope="col" className="right">
              Took
            </th>
            <th scope="col" className="right">
              Fetched
            </th>
            <th scope="col" className="right">
              Changed
            </th>
            <th scope="col" className="right">
              Dead
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.run_id} run={run} brand={brand} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunRow({ run, brand }: { run: Run; brand: boolean }) {
  const took = tookMs(run);
  return (
    <tr>
      <td>
        <Link to="/runs/$id" params={{ id: run.run_id }} className="name">
          {brand ? `${run.integration}, ${syncName(run.sync).toLowerCase()}` : syncName(run.sync)}
        </Link>
        <div className="muted small">
          {run.kind === 'scheduled' ? 'on schedule' : `${run.kind}, by ${run.requested_by}`}
        </div>
      </td>
      <td>
        <State of={run.status} />
        <Progress run={run} />
      </td>
      <td className="nowrap small num off">{run.from ? `${run.from} – ${run.to}` : ''}</td>
      <td data-label="Started">
        <Ago at={run.started_at ?? run.queued_at} />
      </td>
      <td className="right" data-label="Took">
        {took === undefined ? '–' : span(took)}
      </td>
      <td className="right" data-label="Fetched">
        {number(run.fetched)}
      </td>
      <td className="right" data-label="Changed">
        {number(run.changed)}
      </td>
      <td className="right" data-label="Dead">
        {number(run.dead_lettered)}
      </td>
    </tr>
  );
}
