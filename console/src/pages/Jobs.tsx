import { Link } from '@tanstack/react-router';
import { useEvery } from '../api/live.ts';
import { usePages } from '../api/query.tsx';
import type { Job } from '../api/types.ts';
import { Card, Empty, Head, RelativeTime, State } from '../parts/basics.tsx';
import { number } from '../parts/format.ts';
import { operations } from '../parts/StartJob.tsx';
import { Table } from '../parts/Table.tsx';

export function Jobs() {
  const { rows, error, more } = usePages('jobs.list', { limit: 50 }, useEvery(2));
  return (
    <>
      <Head
        title="Jobs"
        lead="Replays, resends and reprocessing of many records, with their progress and their outcomes."
      />
      <Card flush>
        <Table
          label="Jobs"
          rows={rows}
          error={error}
          rowKey={({ job_id }) => job_id}
          empty={
            <Empty title="No job yet">
              Replay all dead letters, resend to a destination or reprocess a brand: the job appears here.
            </Empty>
          }
          columns={[
            {
              head: 'Job',
              cell: (job) => (
                <>
                  <Link to="/jobs/$id" params={{ id: job.job_id }} className="name">
                    {operations[job.operation].title}
                  </Link>
                  <div className="muted small">{scopeOf(job)}</div>
                </>
              ),
            },
            { head: 'State', cell: ({ state }) => <State of={state} /> },
            {
              head: 'Done',
              kind: 'number',
              cell: ({ done, total }) => `${number(done)} of ${number(Math.max(done, total))}`,
            },
            {
              head: 'Started',
              cell: ({ requested_at, requested_by }) => (
                <>
                  <RelativeTime at={requested_at} /> <span className="muted small">by {requested_by}</span>
                </>
              ),
            },
          ]}
        />
        {more}
      </Card>
    </>
  );
}

/** What a job is limited to, in words. */
export function scopeOf({ request, integrations }: Pick<Job, 'request' | 'integrations'>): string {
  const asked = request as Readonly<Record<string, unknown>>;
  const text = (key: string) => (typeof asked[key] === 'string' ? asked[key] : undefined);
  const brands =
    integrations === null
      ? 'all brands'
      : integrations.length > 3
        ? `${integrations.length} brands`
        : integrations.join(', ');
  const to = text('destination');
  const days = [text('from') && `from ${text('from')}`, text('to') && `to ${text('to')}`].filter(Boolean).join(' ');
  return [brands, to && `to ${to}`, text('kind') && `${text('kind')}s`, text('code'), days].filter(Boolean).join(' · ');
}
