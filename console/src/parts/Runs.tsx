import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Run } from '../api/types.ts';
import { RelativeTime, State } from './basics.tsx';
import { runDone } from './claims.ts';
import { number, plural, span, syncName, words } from './format.ts';
import { Table } from './Table.tsx';

/** How far a run is. Few partners report a total, so it shows what was done so far, not a percentage. */
export function Progress({ run }: { run: Run }) {
  if (run.status !== 'running' && run.status !== 'queued') return null;
  return (
    <div className="stack" style={{ gap: 4 }}>
      <div className="bar" aria-hidden="true">
        {run.status === 'running' && <i />}
      </div>
      <span className="small muted num">
        {run.waiting
          ? (waits[run.waiting] ?? words(run.waiting))
          : `${plural(run.pages, 'page')}, ${plural(run.rows, 'row')} so far`}
      </span>
    </div>
  );
}

const waits: Readonly<Record<string, string>> = {
  breaker: 'The partner’s API does not work; the run waits until it answers again.',
  backoff: 'A request failed; the run waits before the next try.',
  retry_after: 'The partner asked us to wait.',
  rate: 'The run keeps to the rate limit of the partner’s API.',
};

function RunState({ run }: { run: Pick<Run, 'status' | 'held' | 'dead_lettered'> }) {
  const done = runDone(run);
  return done ? <State of={run.status} tone={done.tone} label={done.text} /> : <State of={run.status} />;
}

export function tookMs(run: Run): number | undefined {
  if (!run.started_at) return undefined;
  return (run.finished_at ? Date.parse(run.finished_at) : Date.now()) - Date.parse(run.started_at);
}

export function RunTable(props: {
  runs: readonly Run[] | undefined;
  error?: Error | null;
  empty: ReactNode;
  /** Left out on the page of one brand. */
  brand?: boolean;
}) {
  const { brand = true } = props;
  return (
    <Table
      label="Runs"
      rows={props.runs}
      error={props.error ?? null}
      empty={props.empty}
      rowKey={({ run_id }) => run_id}
      columns={[
        {
          head: 'Run',
          cell: (run) => (
            <>
              <Link to="/runs/$id" params={{ id: run.run_id }} className="name">
                {brand ? `${run.integration}, ${syncName(run.sync).toLowerCase()}` : syncName(run.sync)}
              </Link>
              <div className="muted small">{startedBy(run)}</div>
            </>
          ),
        },
        {
          head: 'Status',
          cell: (run) => (
            <>
              <RunState run={run} />
              <Progress run={run} />
            </>
          ),
        },
        {
          head: 'Dates',
          phone: 'hidden',
          cell: ({ from, to }) => from && <span className="nowrap small num">{`${from} – ${to}`}</span>,
        },
        { head: 'Started', phone: 'labelled', cell: (run) => <RelativeTime at={run.started_at ?? run.queued_at} /> },
        {
          head: 'Took',
          kind: 'number',
          cell: (run) => {
            const took = tookMs(run);
            return took === undefined ? '–' : span(took);
          },
        },
        { head: 'Fetched', kind: 'number', cell: ({ fetched }) => number(fetched) },
        { head: 'Changed', kind: 'number', cell: ({ changed }) => number(changed) },
        {
          head: 'Held',
          kind: 'number',
          cell: ({ held }) => (held > 0 ? <span className="warn">{number(held)}</span> : 0),
        },
        {
          head: 'Dead letters',
          kind: 'number',
          cell: ({ dead_lettered: dead }) => (dead > 0 ? <span className="bad">{number(dead)}</span> : 0),
        },
      ]}
    />
  );
}

export const startedBy = ({ kind, requested_by }: Run): string =>
  kind === 'scheduled' ? 'on schedule' : `${kind}, by ${requested_by}`;
