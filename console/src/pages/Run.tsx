import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Input } from '../api/client.ts';
import { useApi } from '../api/query.tsx';
import type { RunDetail } from '../api/types.ts';
import { Card, Empty, Head, Loaded, meaning, Notice, RelativeTime, State, type Tone } from '../parts/basics.tsx';
import { bytes, capital, clockOf, number, plural, span, syncName } from '../parts/format.ts';
import { LastRequest } from '../parts/LastRequest.tsx';
import { RecordLink } from '../parts/links.tsx';
import { Progress, startedBy, tookMs } from '../parts/Runs.tsx';
import { Table } from '../parts/Table.tsx';
import { TryNow } from '../parts/TryNow.tsx';

const route = getRouteApi('/console/runs/$id');

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
                  {startedBy(run)}, <RelativeTime at={run.started_at ?? run.queued_at} />
                  {run.from && `, dates ${run.from} to ${run.to}`}
                </span>
              </span>
            }
          />
          <div className="stack">
            <Progress run={run} />
            {run.waiting && (
              <div>
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

type Outcome = Input<'runs.rows'>['outcome'];

/** Every fetched row has one of these outcomes. */
const outcomes: readonly { of: Outcome; label: string; tone: Tone; count: (run: RunDetail) => number }[] = [
  { of: 'changed', label: 'changed', tone: 'accent', count: (run) => run.changed },
  { of: 'unchanged', label: 'same', tone: 'good', count: (run) => run.unchanged },
  { of: 'superseded', label: 'superseded by newer data', tone: 'calm', count: (run) => run.superseded },
  { of: 'skipped', label: 'not for this sync', tone: 'calm', count: (run) => run.skipped },
  { of: 'dropped', label: 'dropped by a rule', tone: 'info', count: (run) => run.dropped },
  { of: 'dead', label: 'dead letters', tone: 'bad', count: (run) => run.dead_lettered },
  { of: 'held', label: 'held', tone: 'warn', count: heldWhole },
];

/** Rows held in part changed or stayed the same otherwise, and are counted there. */
function heldWhole({ fetched, changed, unchanged, superseded, skipped, dropped, dead_lettered }: RunDetail): number {
  return Math.max(0, fetched - changed - unchanged - superseded - skipped - dropped - dead_lettered);
}

function Tally({ run }: { run: RunDetail }) {
  const [chosen, setChosen] = useState<Outcome>();
  const took = tookMs(run);
  const parts = outcomes.map((one) => ({ ...one, rows: one.count(run) })).filter(({ rows }) => rows > 0);
  const inPart = run.held - heldWhole(run);
  return (
    <Card
      title={`${plural(run.fetched, 'row')} fetched`}
      aside={took === undefined ? undefined : `in ${span(took)}`}
      flush
    >
      <div className="stack inset">
        {parts.length > 0 && (
          <div className="tally" aria-hidden="true">
            {parts.map(({ of, tone, rows }) => (
              <i key={of} data-tone={tone} style={{ flexGrow: rows }} />
            ))}
          </div>
        )}
        <div className="row">
          {parts.map(({ of, label, tone, rows }) => (
            <button
              key={of}
              type="button"
              className="state"
              data-tone={tone}
              aria-expanded={chosen === of}
              onClick={() => setChosen(chosen === of ? undefined : of)}
            >
              {number(rows)} {label}
            </button>
          ))}
        </div>
        {run.repeated + inPart > 0 && (
          <p className="small">
            {run.repeated > 0 && `${plural(run.repeated, 'more row')} had the id of a later row of the same page. `}
            {inPart > 0 && `${plural(inPart, 'row')} held in part; the rest of each is counted above.`}
          </p>
        )}
        <p className="small muted">
          {plural(run.requests, 'request')}, {plural(run.retries, 'retry', 'retries')}, {plural(run.pages, 'page')},{' '}
          {bytes(run.bytes)}, waited {span(run.waited_ms)}. Connector v{run.connector_version}, integration v
          {run.integration_version}. <code>{run.run_id}</code>
        </p>
      </div>
      {chosen && <Rows run={run} outcome={chosen} />}
    </Card>
  );
}

const because: Readonly<Partial<Record<Outcome, string>>> = {
  skipped:
    'The partner listed them, but their dates belong to another sync of the brand, or their property to no brand. Up to 100 of each page are kept.',
  held: 'A value vanished or jumped in nearly all rows at once. The stored values stay until somebody decides.',
};

function Rows({ run, outcome }: { run: RunDetail; outcome: Outcome }) {
  const query = useApi('runs.rows', { run_id: run.run_id, outcome, limit: 200 }, { keep: true });
  return (
    <>
      {because[outcome] && <p className="small muted inset">{because[outcome]}</p>}
      <Table
        label="Rows"
        rows={query.data?.items}
        error={query.error}
        rowKey={({ integration, id, version, dead_letter_id }) => `${integration} ${id} ${version} ${dead_letter_id}`}
        find={({ id, reason }) => `${id} ${reason}`}
        tall
        empty={<Empty small title="These rows are no longer kept" />}
        columns={[
          {
            head: 'Reservation',
            cell: ({ integration, id, dead_letter_id }) =>
              outcome === 'dead' && dead_letter_id ? (
                <Link to="/dead-letters/$id" params={{ id: dead_letter_id }} className="name">
                  {id ?? 'without an id'}
                </Link>
              ) : outcome === 'skipped' ? (
                <span className="name">{id}</span>
              ) : (
                id && <RecordLink integration={integration} id={id} lead />
              ),
          },
          { head: 'Version', kind: 'number', phone: 'hidden', cell: ({ version }) => version ?? '' },
          { head: 'Why', phone: 'line', cell: ({ reason }) => reason ?? '' },
        ]}
      />
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
