import { Button, Select, TextInput } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Answer } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import { useApi, usePages } from '../api/query.tsx';
import type { JobRequest } from '../api/types.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head, meaning, Notice, RelativeTime, State, type Tone } from '../parts/basics.tsx';
import { noDeadLetters } from '../parts/claims.ts';
import { capital, number, plural } from '../parts/format.ts';
import { StartJob } from '../parts/StartJob.tsx';
import { StudioLink } from '../parts/StudioLink.tsx';
import { Table } from '../parts/Table.tsx';
import { letterKinds, letterStates } from '../shell/filters.ts';
import { useMay } from '../shell/session.ts';

const route = getRouteApi('/console/dead-letters');
const kinds = { event: 'Events', record: 'Records', delivery: 'Deliveries' };

export function DeadLetters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const operator = useMay('operator');
  const { rows, error, first, more } = usePages('dead_letters.list', { ...search, limit: 50 }, useEvery(8));
  const { state = 'open', q, message, ...filter } = search;
  const reasons = useApi('dead_letters.reasons', { ...search }, { everyMs: useEvery(8), keep: true });
  const [text, setText] = useState(q ?? '');
  useEffect(() => setText(q ?? ''), [q]);
  const [replaying, setReplaying] = useState<ReplayRequest>();
  const total = first?.total ?? 0;
  const open = state === 'open';
  return (
    <>
      <Head
        title="Dead letters"
        lead="Events, records and deliveries that failed for good, kept in full. Fix the cause, check what a replay would change, replay."
      >
        {operator && open && total > 0 && q === undefined && message === undefined && (
          <Button variant="default" onClick={() => setReplaying(filter)}>
            Replay {total === 1 ? 'it' : `all ${number(total)}`} …
          </Button>
        )}
      </Head>
      {replaying && (
        <StartJob
          request={{ operation: 'replay', ...replaying }}
          lead="Each one is tried first. Those that would fail again stay open and change nothing."
          onClose={() => setReplaying(undefined)}
        />
      )}
      <form
        className="filters"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ search: { ...search, q: text.trim() || undefined } });
        }}
      >
        <TextInput
          label="Id, reason or code"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          style={{ flex: '1 1 200px' }}
        />
        <Select
          label="State"
          value={state}
          onChange={(chosen) =>
            void navigate({ search: { ...search, state: chosen === 'open' ? undefined : (chosen ?? undefined) } })
          }
          data={letterStates.map((value) => ({ value, label: capital(value) }))}
        />
        <BrandSelect
          value={search.integration}
          onChange={(integration) => void navigate({ search: { ...search, integration } })}
        />
        <Select
          label="Kind"
          value={search.kind ?? ''}
          onChange={(kind) => void navigate({ search: { ...search, kind: kind || undefined } })}
          data={[{ value: '', label: 'Any' }, ...letterKinds.map((value) => ({ value, label: kinds[value] }))]}
        />
        <Button type="submit" variant="default">
          Search
        </Button>
        {message === undefined && (search.code || search.destination) && (
          <Button
            variant="default"
            onClick={() =>
              void navigate({ search: { ...search, code: undefined, destination: undefined, message: undefined } })
            }
          >
            Only {search.code ?? search.destination} ✕
          </Button>
        )}
      </form>
      <div className="stack">
        {message !== undefined && (
          <OneReason
            reason={reasons.data?.items.find((one) => one.message === message)}
            search={search}
            total={total}
            onReplay={operator && open ? () => setReplaying({ ...filter, message }) : undefined}
          />
        )}
        {message === undefined && (reasons.data?.items.length ?? 0) > 0 && (
          <Reasons
            reasons={reasons.data?.items ?? []}
            search={search}
            onReplay={operator && open ? setReplaying : undefined}
          />
        )}
        <Card title={plural(total, 'dead letter')} aside="oldest first" flush>
          <Table
            label="Dead letters"
            rows={rows}
            error={error}
            rowKey={({ id }) => id}
            empty={
              open ? (
                <Empty
                  title={
                    noDeadLetters(Object.values({ ...filter, q, message }).filter((one) => one !== undefined).length)
                      .text
                  }
                />
              ) : (
                <Empty title="No dead letter in this state" />
              )
            }
            columns={[
              {
                head: 'Dead letter',
                cell: ({ id, kind, record_id, destination }) => (
                  <>
                    <Link to="/dead-letters/$id" params={{ id }} className="name">
                      {capital(kind)} {record_id ?? `#${id}`}
                    </Link>
                    {destination && <div className="muted small">to {destination}</div>}
                  </>
                ),
              },
              { head: 'State', cell: ({ state: its }) => <State of={its} /> },
              {
                head: 'Reason',
                phone: 'line',
                cell: ({ message, code, times }) => (
                  <>
                    {message}
                    <div className="muted small">
                      <Link to="/dead-letters" search={{ code }}>
                        {code}
                      </Link>
                      {times > 1 && `, ${number(times)} times`}
                    </div>
                  </>
                ),
              },
              { head: 'Brand', cell: ({ integration }) => integration },
              { head: 'Since', cell: ({ at }) => <RelativeTime at={at} /> },
            ]}
          />
          {more}
        </Card>
      </div>
    </>
  );
}

type ReplayRequest = Omit<Extract<JobRequest, { operation: 'replay' }>, 'operation'>;
type Reason = Answer<'dead_letters.reasons'>['items'][number];
type Search = ReturnType<typeof route.useSearch>;

/** Why these failed, what to do about it, and the replay of all of them. */
function OneReason(props: {
  reason: Reason | undefined;
  search: Search;
  total: number;
  onReplay?: (() => void) | undefined;
}) {
  const { reason, search, total } = props;
  const { code = reason?.code ?? '', message } = search;
  const [brand] = reason?.integrations ?? [];
  const { what, next } = meaning(code) ?? {};
  return (
    <Notice tone={total > 0 ? 'bad' : 'calm'} title={message}>
      <p>
        {what} {next}
      </p>
      <div className="row">
        {props.onReplay && total > 0 && (
          <Button onClick={props.onReplay}>Replay {total === 1 ? 'it' : `these ${number(total)}`} …</Button>
        )}
        {reason && brand && reason.kind !== 'delivery' && (
          <StudioLink integration={brand} letter={reason.newest}>
            Fix the mapping in the studio
          </StudioLink>
        )}
        <Link to="/dead-letters" search={{ ...search, code: undefined, destination: undefined, message: undefined }}>
          All reasons
        </Link>
      </div>
    </Notice>
  );
}

interface ReasonsProps {
  readonly reasons: readonly Reason[];
  readonly search: Search;
}

const mostAreas = 8;
const tones: Readonly<Record<string, Tone>> = { event: 'info', record: 'bad', delivery: 'warn' };

/** The reasons as areas: the larger, the more records. The rows below say the same in words. */
function Areas({ reasons, search }: ReasonsProps) {
  const total = reasons.reduce((sum, { records }) => sum + records, 0);
  const rest = reasons.slice(mostAreas).reduce((sum, { records }) => sum + records, 0);
  return (
    <nav className="areas" aria-label="Reasons by number of records">
      {reasons.slice(0, mostAreas).map(({ code, message, kind, destination, records }) => (
        <Link
          key={`${code} ${message} ${kind} ${destination}`}
          to="/dead-letters"
          search={{ ...search, code, message, destination: destination ?? undefined }}
          data-tone={tones[kind]}
          style={{ flexGrow: records }}
          title={`${message}: ${plural(records, 'record')}`}
        >
          <strong>{Math.round((100 * records) / total)} %</strong> <span>{message}</span>
        </Link>
      ))}
      {rest > 0 && <span style={{ flexGrow: rest }}>{plural(reasons.length - mostAreas, 'other reason')}</span>}
    </nav>
  );
}

/** One row for each reason: what to fix first. */
function Reasons(props: ReasonsProps & { onReplay?: ((request: ReplayRequest) => void) | undefined }) {
  const { integration, kind } = props.search;
  return (
    <Card title={plural(props.reasons.length, 'reason')} aside="those of most records first" flush>
      {props.reasons.length > 1 && <Areas {...props} />}
      <Table
        label="Reasons"
        rows={props.reasons}
        rowKey={({ code, message, kind, destination }) => `${code} ${message} ${kind} ${destination}`}
        columns={[
          {
            head: 'Reason',
            phone: 'line',
            cell: ({ code, message, destination }) => (
              <>
                <Link
                  to="/dead-letters"
                  search={{ ...props.search, code, message, destination: destination ?? undefined }}
                  className="name"
                >
                  {message}
                </Link>
                <div className="muted small">
                  {meaning(code)?.next}
                  {destination && ` (${destination})`}
                </div>
              </>
            ),
          },
          {
            head: 'Records',
            cell: ({ records, times }) =>
              times === records ? plural(records, 'record') : `${plural(records, 'record')}, ${plural(times, 'time')}`,
          },
          {
            head: 'Brands',
            phone: 'labelled',
            cell: ({ integrations, brands }) =>
              brands > integrations.length
                ? `${number(brands)} brands, such as ${integrations[0]}`
                : integrations.join(', '),
          },
          {
            head: 'Since',
            phone: 'labelled',
            cell: ({ at, last_at }) => (
              <>
                <RelativeTime at={at} />, last <RelativeTime at={last_at} />
              </>
            ),
          },
          {
            head: 'Replay',
            silent: true,
            cell: ({ code, message, destination, records }) =>
              props.onReplay && (
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() =>
                    props.onReplay?.({ integration, kind, code, message, destination: destination ?? undefined })
                  }
                >
                  Replay {records === 1 ? 'it' : `these ${number(records)}`} …
                </Button>
              ),
          },
        ]}
      />
    </Card>
  );
}
