import { Button } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import type { Job as Data } from '../api/types.ts';
import { Card, Facts, Head, Loaded, meaning, Notice, RelativeTime, State } from '../parts/basics.tsx';
import { jobDone } from '../parts/claims.ts';
import { capital, number, plural, words } from '../parts/format.ts';
import { operations } from '../parts/StartJob.tsx';
import { useMay } from '../shell/session.ts';
import { scopeOf } from './Jobs.tsx';

const route = getRouteApi('/console/jobs/$id');

export function Job() {
  const { id } = route.useParams();
  const query = useApi(
    'jobs.get',
    { job_id: id },
    {
      everyMs: (job) => (job?.finished_at && !job.delivery?.waiting ? false : 1_000),
    },
  );
  return (
    <Loaded query={query} head={<Head title="Job" crumb={<Link to="/jobs">Jobs</Link>} />}>
      {(job) => (
        <>
          <Head
            title={operations[job.operation].title}
            crumb={<Link to="/jobs">Jobs</Link>}
            lead={
              <span className="row">
                <State of={job.state} />
                <span>
                  {scopeOf(job)} · started <RelativeTime at={job.requested_at} /> by {job.requested_by}
                </span>
              </span>
            }
          >
            <Stop job={job} />
          </Head>
          <div className="stack">
            <Outcome job={job} />
            <Card title="Progress" aside={job.job_id}>
              <Progress job={job} />
            </Card>
            {job.refusals.length > 0 && (
              <Card title="Not processed">
                <Facts facts={job.refusals.map(({ id, reason }) => [id, reason] as const)} />
              </Card>
            )}
          </div>
        </>
      )}
    </Loaded>
  );
}

function Stop({ job }: { job: Data }) {
  const operator = useMay('operator');
  const stop = useAct(
    () => call('jobs.stop', { job_id: job.job_id }),
    () => 'Stopped. Nothing was undone.',
  );
  if (!operator || job.finished_at !== null) return null;
  return (
    <Button variant="default" onClick={() => stop.mutate(undefined)} loading={stop.isPending}>
      Stop
    </Button>
  );
}

function Progress({ job }: { job: Data }) {
  const total = Math.max(job.total, job.done);
  const share = total === 0 ? 1 : job.done / total;
  return (
    <div className="stack">
      <progress className="progress" max={1} value={share} aria-label="Progress" />
      <Facts
        facts={[
          ['Done', `${number(job.done)} of ${plural(total, operations[job.operation].one)}`],
          ...Object.entries(job.counts).map(([what, count]) => [capital(words(what)), number(count)] as const),
          ...(job.delivery
            ? ([
                ['Waiting for delivery', number(job.delivery.waiting)],
                ['Blocked by dead letters', number(job.delivery.held)],
              ] as const)
            : []),
        ]}
      />
    </div>
  );
}

/** How it ended, and what to do next. */
function Outcome({ job }: { job: Data }) {
  if (job.state === 'failed') {
    return (
      <Notice tone="bad" title={job.message ?? 'The job failed'}>
        {job.code && meaning(job.code)?.next} Nothing was undone. Fix the cause and start it again.
      </Notice>
    );
  }
  if (job.state === 'stopped') {
    return (
      <Notice tone="warn" title={`Stopped by ${job.stopped_by}`}>
        Nothing was undone. Starting it again processes the rest.
      </Notice>
    );
  }
  if (job.state !== 'done') {
    return job.code ? (
      <Notice tone="warn" title="The last step failed and is repeated">
        {job.message}
      </Notice>
    ) : null;
  }
  const failing = job.counts.still_failing ?? 0;
  const done = jobDone(job);
  return (
    <Notice tone={done?.tone ?? 'calm'} title={done?.text}>
      {job.operation === 'replay' && failing > 0 && (
        <>
          {plural(failing, 'dead letter')} would fail again and {failing === 1 ? 'stays' : 'stay'} open.{' '}
          <Link to="/dead-letters">Open them</Link>
        </>
      )}
      {job.operation === 'resend' && (
        <>
          They are delivered in order. <Link to="/destinations">See what is waiting</Link>
        </>
      )}
      {job.operation === 'reprocess' &&
        (job.counts.changed
          ? 'Changed records are delivered like any other change.'
          : 'No record changed, so nothing was delivered.')}
    </Notice>
  );
}
