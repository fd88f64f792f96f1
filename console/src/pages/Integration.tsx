import { Button, Menu, Tabs } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import { useAct, useApi } from '../api/query.tsx';
import type { IntegrationDetail, JobRequest, SyncType } from '../api/types.ts';
import { BrandState } from '../parts/BrandState.tsx';
import { Card, Empty, Facts, Head, Loaded, Notice, RelativeTime, State } from '../parts/basics.tsx';
import { Spark } from '../parts/charts.tsx';
import { checksOf } from '../parts/claims.ts';
import { number, plural, syncName } from '../parts/format.ts';
import { RunTable } from '../parts/Runs.tsx';
import { StartJob } from '../parts/StartJob.tsx';
import { lastThreeHours } from '../parts/steps.ts';
import { Table } from '../parts/Table.tsx';
import { Remedies } from '../parts/TryNow.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';
import { Backfill } from './Backfill.tsx';
import { ConsentCard } from './ConsentCard.tsx';
import { PushGapsCard, UnlistedCard } from './CoverageCard.tsx';
import { EndpointCard } from './EndpointCard.tsx';
import { FeedCard } from './FeedCard.tsx';
import { HoldsCard } from './HoldsCard.tsx';
import { LinksCard } from './links/LinksCard.tsx';
import { QualityCard } from './QualityCard.tsx';
import { SandboxCard } from './SandboxCard.tsx';

const route = getRouteApi('/console/integrations/$name');
type Finding = IntegrationDetail['findings'][number];

export function Integration() {
  const { name } = route.useParams();
  const all = useSeesAllBrands();
  const query = useApi('integrations.get', { integration: name, hours: 3 }, { everyMs: useEvery(5) });
  return (
    <Loaded query={query} head={<Head title={name} crumb={<Link to="/integrations">Integrations</Link>} />}>
      {(brand) => (
        <>
          <Head
            title={name}
            crumb={<Link to="/integrations">Integrations</Link>}
            lead={
              <span className="row">
                <BrandState brand={brand} />
                <span>
                  {brand.brand_id} · connector{' '}
                  {all ? (
                    <Link to="/studio" search={{ connector: brand.connector }}>
                      {brand.connector}
                    </Link>
                  ) : (
                    brand.connector
                  )}{' '}
                  v{brand.connector_version} · {brand.timezone}
                </span>
                {brand.state === 'healthy' && <span>{checksOf(brand).text}</span>}
              </span>
            }
          >
            <Button variant="default" component={Link} to={`/hotels/${name}`}>
              This morning
            </Button>
            <Actions brand={brand} />
          </Head>
          <div className="stack">
            <Findings brand={brand} />
            <HoldsCard integration={name} />
            <Parts brand={brand} />
          </div>
        </>
      )}
    </Loaded>
  );
}

const tabNames = { pull: 'Pull', push: 'Push', deliveries: 'Deliveries', quality: 'Quality', onboarding: 'Onboarding' };
type Tab = keyof typeof tabNames;

/** The part that a finding is about. */
const tabOf = ({ cause, kind }: Finding): Tab | undefined => {
  const [of] = cause.split(':', 1);
  if (kind === 'partner_waiting') return 'onboarding';
  if (of === 'destination') return 'deliveries';
  if (of === 'push') return 'push';
  if (of === 'pull' || of === 'partner') return 'pull';
  return kind.startsWith('dead_letter') ? 'quality' : undefined;
};

/** The brand in parts, beginning with the one that has a problem. */
function Parts({ brand }: { brand: IntegrationDetail }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { name } = brand;
  const isPushed = brand.push.enabled || brand.stream !== null;
  const wrong = brand.findings.filter(({ state }) => !['new', 'paused', 'healthy'].includes(state)).map(tabOf);
  const [first] = wrong.filter((tab) => tab !== undefined);
  const tab = search.tab ?? first ?? (brand.pull === null && isPushed ? 'push' : 'pull');
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={(chosen) => void navigate({ search: { tab: chosen as Tab }, replace: true })}
    >
      <Tabs.List mb="md">
        {Object.entries(tabNames).map(([value, label]) => (
          <Tabs.Tab key={value} value={value}>
            {label}
            {wrong.includes(value as Tab) && (
              <span className="tab-mark">
                <span className="visually-hidden"> needs attention</span>
              </span>
            )}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="pull" className="stack">
        <Syncs brand={brand} />
        {brand.consent !== null && <ConsentCard integration={name} />}
        {brand.pull && <UnlistedCard brand={brand} />}
        <RecentRuns name={name} />
      </Tabs.Panel>
      <Tabs.Panel value="push" className="stack">
        {!isPushed && <Empty title="This brand sends no events">Its data comes from pulls only.</Empty>}
        {brand.stream && <StreamCard stream={brand.stream} />}
        {brand.push.enabled && <EndpointCard integration={name} />}
        {brand.pull && isPushed && <PushGapsCard integration={name} />}
        {brand.push.enabled && <SandboxCard integration={name} />}
      </Tabs.Panel>
      <Tabs.Panel value="deliveries">
        <Backlog brand={brand} />
      </Tabs.Panel>
      <Tabs.Panel value="onboarding">
        <LinksCard integration={name} />
      </Tabs.Panel>
      <Tabs.Panel value="quality" className="stack">
        <QualityCard integration={name} />
        <FeedCard integration={name} />
        {brand.drift.length > 0 && <UnmappedValues brand={brand} />}
        {brand.open_dead_letters > 0 && (
          <p>
            <Link to="/dead-letters" search={{ integration: name }}>
              {plural(brand.open_dead_letters, 'open dead letter')}
            </Link>
          </p>
        )}
      </Tabs.Panel>
    </Tabs>
  );
}

const titles = {
  healthy: undefined,
  new: 'No data yet',
  paused: 'Paused',
  attention: 'Needs attention',
  failing: 'Failing',
  auth_failed: 'Pulling is paused',
} as const;

/** What is held back has its own card below. */
const shortly = ({ kind, message }: Finding): string =>
  kind === 'rows_held' ? 'Values are held back: see below.' : message;

/** What the checks found, worst first. */
function Findings({ brand }: { brand: IntegrationDetail }) {
  // A lane that waits for its release does not pause the others.
  const title = brand.findings[0]?.kind === 'deliveries_paused' ? 'Deliveries wait' : titles[brand.state];
  if (title === undefined) return null;
  const tone =
    brand.state === 'new' ? 'calm' : brand.state === 'failing' || brand.state === 'auth_failed' ? 'bad' : 'warn';
  return (
    <Notice tone={tone} title={title}>
      {[...new Set(brand.findings.map(shortly))].map((message) => (
        <div key={message}>{message}</div>
      ))}
      <Remedies integration={brand.name} findings={brand.findings.filter(({ action }) => action !== 'resume')} />
    </Notice>
  );
}

function Actions({ brand }: { brand: IntegrationDetail }) {
  const operator = useMay('operator');
  const all = useSeesAllBrands();
  const [backfill, setBackfill] = useState(false);
  const integration = brand.name;
  const search = route.useSearch();
  const [job, setJob] = useState<JobRequest | undefined>(search.job && { operation: search.job, integration });
  const run = useAct(
    (sync: SyncType) => call('integrations.run', { integration, sync }),
    ({ already_going }, sync) =>
      already_going ? `${syncName(sync)} is already running.` : `${syncName(sync)} is queued.`,
  );
  const pause = useAct(
    (on: boolean) => call(on ? 'integrations.pause' : 'integrations.resume', { integration }),
    (_, on) => (on ? 'Scheduled pulls are paused. Events are still accepted.' : 'Scheduled pulls are on again.'),
  );
  if (!operator) return null;
  return (
    <>
      {brand.pull && (
        <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
          <Menu.Target>
            <Button loading={run.isPending}>Run now</Button>
          </Menu.Target>
          <Menu.Dropdown>
            {brand.pull.syncs.map(({ sync }) => (
              <Menu.Item key={sync} onClick={() => run.mutate(sync)}>
                {syncName(sync)}
              </Menu.Item>
            ))}
            <Menu.Divider />
            <Menu.Item onClick={() => setBackfill(true)}>Backfill …</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      {brand.pull && brand.paused_in_document && <StartPulling integration={integration} />}
      {brand.pull && !brand.paused_in_document && brand.state !== 'auth_failed' && (
        <Button variant="default" loading={pause.isPending} onClick={() => pause.mutate(!brand.paused)}>
          {brand.paused ? 'Resume' : 'Pause pulling'}
        </Button>
      )}
      <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <Button variant="default">More</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setJob({ operation: 'reprocess', integration })}>
            Reprocess stored payloads …
          </Menu.Item>
          {brand.deliver.map((destination) => (
            <Menu.Item key={destination} onClick={() => setJob({ operation: 'resend', integration, destination })}>
              Resend everything to {destination} …
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {all && (
        <Button variant="default" component={Link} to={`/documents/integration/${integration}`}>
          Edit document
        </Button>
      )}
      {job && <StartJob request={job} lead={leads[job.operation]} onClose={() => setJob(undefined)} />}
      <Backfill name={integration} opened={backfill} onClose={() => setBackfill(false)} />
    </>
  );
}

const leads = {
  audit: '',
  replay: '',
  resend: 'The newest version of each record is sent again, with its original idempotency key.',
  reprocess:
    'Stored payloads are processed again under the documents in force. Changes become new versions and are delivered; newer data from the partner stays.',
};

/** A new brand is paused in its document until its connection was tested. */
function StartPulling({ integration }: { integration: string }) {
  const admin = useMay('admin');
  const all = useSeesAllBrands();
  const start = useAct(
    () => call('integrations.start', { integration }),
    ({ pulling }) => (pulling ? 'Scheduled pulls are on.' : 'The document no longer pauses it; it is still paused.'),
  );
  if (!admin || !all) return null;
  return (
    <Button variant="default" loading={start.isPending} onClick={() => start.mutate(undefined)}>
      Start pulling
    </Button>
  );
}

function Syncs({ brand }: { brand: IntegrationDetail }) {
  const hasNoWorker = brand.findings.some(({ kind }) => kind === 'role_missing');
  const until = brand.paused ? 'when resumed' : hasNoWorker ? 'when a worker runs' : undefined;
  const waits = brand.waits_until !== null || brand.findings.some(({ kind }) => kind === 'run_waiting');
  const later = (at: string | null) =>
    at !== null && brand.waits_until !== null && brand.waits_until > at ? brand.waits_until : at;
  return (
    <Card
      title="Pull"
      aside={
        brand.pull &&
        (brand.running > 0 ? (
          waits ? (
            <>
              a run waits for the partner
              {brand.waits_until && (
                <>
                  ; it continues <RelativeTime next at={brand.waits_until} />
                </>
              )}
            </>
          ) : (
            'a run is in progress'
          )
        ) : (
          <>
            {brand.last_run_at ? 'last run ' : ''}
            <RelativeTime at={brand.last_run_at} none="no run yet" />
          </>
        ))
      }
      flush
    >
      <Table
        label="Syncs"
        narrow
        rows={brand.pull?.syncs ?? []}
        rowKey={({ sync }) => sync}
        empty={
          <Empty small title="This brand is not pulled">
            Its data comes from events only.
          </Empty>
        }
        columns={[
          { head: 'Sync', cell: ({ sync }) => syncName(sync) },
          { head: 'Every', cell: ({ every }) => <span className="num">{every}</span> },
          {
            head: 'Next run',
            cell: ({ next_at, skipped }) => (
              <>
                {until ? (
                  <span className="muted">{until}</span>
                ) : (
                  <RelativeTime next at={later(next_at)} none="not scheduled" />
                )}
                {skipped > 0 && (
                  <span className="muted small"> ({plural(skipped, 'start')} found the previous run still active)</span>
                )}
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

function Backlog({ brand }: { brand: IntegrationDetail }) {
  const counts = lastThreeHours(brand.sparkline, ['changes']);
  const total = counts.reduce((sum, one) => sum + one, 0);
  return (
    <Card
      title="Deliveries"
      aside={total > 0 && <Spark values={counts} label={`${plural(total, 'change')} in the last three hours`} />}
      flush
    >
      <Table
        label="Backlog of each destination"
        narrow
        rows={brand.lanes}
        rowKey={({ destination }) => destination}
        columns={[
          {
            head: 'Destination',
            cell: ({ destination, preview }) => (
              <span className="row">
                <Link to="/destinations" className="name">
                  {destination}
                </Link>
                {preview && <State of="paused" label="In preview" />}
              </span>
            ),
          },
          { head: 'Waiting', kind: 'number', cell: ({ waiting }) => number(waiting) },
          { head: 'Retrying', kind: 'number', cell: ({ retrying }) => number(retrying) },
          {
            head: 'Blocked',
            kind: 'number',
            cell: ({ destination, held }) =>
              held > 0 ? (
                <Link to="/dead-letters" search={{ integration: brand.name, destination }}>
                  {number(held)}
                </Link>
              ) : (
                0
              ),
          },
        ]}
      />
    </Card>
  );
}

/** The partner's stream, which may be shared with other brands. */
function StreamCard({ stream }: { stream: NonNullable<IntegrationDetail['stream']> }) {
  return (
    <Card title="Stream">
      <Facts
        facts={[
          ['Connected since', <RelativeTime key="since" at={stream.connected_since} none="not connected" />],
          ['Last message', <RelativeTime key="message" at={stream.last_message_at} none="none" />],
          ['Problem', stream.problem ?? 'none'],
        ]}
      />
    </Card>
  );
}

function UnmappedValues({ brand }: { brand: IntegrationDetail }) {
  return (
    <Card title="Unmapped values" aside="sent by the partner, missing from the connector’s value maps" flush>
      <Table
        label="Unmapped values"
        narrow
        rows={brand.drift}
        rowKey={({ field, value }) => `${field} ${value}`}
        columns={[
          { head: 'Field', kind: 'code', cell: ({ field }) => field },
          { head: 'Value', kind: 'code', cell: ({ value }) => value },
          { head: 'Times', kind: 'number', cell: ({ times }) => number(times) },
          { head: 'Last', cell: ({ last_at }) => <RelativeTime at={last_at} /> },
        ]}
      />
    </Card>
  );
}

function RecentRuns({ name }: { name: string }) {
  const query = useApi('runs.list', { integration: name, limit: 8 }, { everyMs: useEvery(3) });
  return (
    <Card
      title="Recent runs"
      aside={
        <Link to="/runs" search={{ integration: name }}>
          all runs
        </Link>
      }
      flush
    >
      <RunTable runs={query.data?.items} error={query.error} empty={<Empty small title="No run yet" />} brand={false} />
    </Card>
  );
}
