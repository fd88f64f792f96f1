import { getRouteApi, Link } from '@tanstack/react-router';
import { useApi } from '../api/query.tsx';
import type { RunDetail } from '../api/types.ts';
import { Ago, Card, Empty, Head, Loaded, meaning, Notice, State } from '../parts/basics.tsx';
import { bytes, capital, clockOf, number, plural, span, syncName } from '../parts/format.ts';
import { LastRequest } from '../parts/LastRequest.tsx';
import { Progress, startedBy, tookMs } from '../parts/Runs.tsx';
import { Table } from '../parts/Table.tsx';
import { TryNow } from '../parts/TryNow.tsx';

const route = getRouteApi('/desk/runs/$id');

export function Run() {
  const { id } = route.useParams();
  const query = useApi('runs.get', { run_id: id }, { everyMs: (run) => (run?.finished_at ? false : 1_000) });
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
                  {startedBy(run)}, <Ago at={run.started_at ?? run.queued_at} />
                  {run.from && `, dates ${run.from} to ${run.to}`}
                </span>
              </span>
            }
          />
          <div className="stack">
            <Progress run={run} />
            {run.waiting && (
              <div className="row">
                <span>{waits[run.waiting] ?? run.waiting}</span>
                <TryNow action="try_now" of={run.integration} />
              </div>
            )}
            {run.error_code && (
              <Notice tone="bad" title={capital(run.error_message ?? run.error_code)}>
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
            {run.last_request && <LastRequest sent={run.last_request} />}
          </div>
        </>
      )}
    </Loaded>
  );
}

const waits: Readonly<Record<string, string>> = {
  breaker: 'The circuit to the partner’s API is open; the run waits for the next probe.',
  backoff: 'A request failed; the run waits before the next try.',
  retry_after: 'The partner asked us to wait.',
  rate: 'The run keeps to the rate limit of the partner’s API.',
};

function Tally({ run }: { run: RunDetail }) {
  const took = tookMs(run);
  const figures: [string, string][] = [
    ['Fetched', number(run.fetched)],
    ['Changed', number(run.changed)],
    ['Unchanged', number(run.unchanged)],
    ['Not for this sync', number(run.skipped)],
    ...(run.repeated > 0 ? [['Same id twice', number(run.repeated)] as [string, string]] : []),
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
        {plural(run.requests, 'request')}, {plural(run.retries, 'retry', 'retries')}, {plural(run.pages, 'page')},{' '}
        {plural(run.rows, 'row')}, {bytes(run.bytes)}, waited {span(run.waited_ms)}, {number(run.superseded)} superseded
        by newer data, {number(run.dropped)} dropped by rules. Connector v{run.connector_version}, integration v
        {run.integration_version}. <code>{run.run_id}</code>
      </p>
    </>
  );
}

function Windows({ run }: { run: RunDetail }) {
  return (
    <Card title="Windows" aside="the date ranges that were requested" flush>
      <Table
        label="Windows"
        rows={run.windows}
        rowKey={({ from, to }) => `${from} ${to}`}
        empty={<Empty small title={run.requests > 0 ? 'No page was read' : 'Nothing has been requested yet'} />}
        columns={[
          {
            head: 'Dates',
            phone: 'line',
            cell: ({ from, to }) => <span className="nowrap num">{`${from} – ${to}`}</span>,
          },
          {
            head: 'Requested',
            phone: 'labelled',
            cell: ({ asked_at }) => <span className="num">{clockOf(asked_at)}</span>,
          },
          { head: 'Pages', kind: 'number', cell: ({ pages }) => number(pages) },
          { head: 'Rows', kind: 'number', cell: ({ rows }) => number(rows) },
          { head: 'Different', kind: 'number', cell: ({ fresh }) => number(fresh) },
          { head: 'Changed', kind: 'number', cell: ({ changed }) => number(changed) },
          { head: 'Passes', kind: 'number', cell: ({ passes }) => number(passes) },
          { head: 'Slowest page', kind: 'number', cell: ({ longest_ms }) => span(longest_ms) },
        ]}
      />
    </Card>
  );
}
