import { Button, Select, TextInput } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import type { Answer } from '../api/client.ts';
import { useApi, usePages } from '../api/query.tsx';
import { fullName, guestOf, reservationOf } from '../api/record.ts';
import type { Found } from '../api/types.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Card, Empty, Head, RelativeTime, State } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { deliveredOf } from '../parts/claims.ts';
import { plural, words } from '../parts/format.ts';
import { BrandLink, RecordLink } from '../parts/links.tsx';
import { type Column, Table } from '../parts/Table.tsx';
import { reservationStatuses } from '../shell/filters.ts';

const route = getRouteApi('/console/reservations');

export function Reservations() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(search.q ?? '');
  useEffect(() => setText(search.q ?? ''), [search.q]);
  const type = search.type ?? 'reservation';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ search: { ...search, q: text.trim() || undefined } });
  };
  return (
    <>
      <Head
        title="Reservations"
        lead="Open one to see where its data came from, what changed and why, and which destinations have it."
      />
      <form className="filters" onSubmit={submit}>
        <Choice
          label="What to search"
          options={{ reservation: 'Reservations', guest: 'Guests' }}
          value={type}
          onChange={(value) => void navigate({ search: { ...search, type: value === 'guest' ? value : undefined } })}
        />
        <TextInput
          label={
            type === 'guest' ? 'Name, e-mail, phone or guest id' : 'Number, name, e-mail, phone, room or arrival date'
          }
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          style={{ flex: '1 1 240px' }}
        />
        <BrandSelect
          value={search.integration}
          onChange={(integration) => void navigate({ search: { ...search, integration } })}
        />
        {type === 'reservation' && (
          <Select
            label="Status"
            value={search.status ?? ''}
            onChange={(status) => void navigate({ search: { ...search, status: status || undefined } })}
            data={[
              { value: '', label: 'Any' },
              ...reservationStatuses.map((value) => ({ value, label: words(value) })),
            ]}
          />
        )}
        <Button type="submit">Search</Button>
      </form>
      <div className="stack">
        {type === 'guest' ? <Guests /> : <Bookings />}
        {(search.q?.trim().length ?? 0) > 1 && <Arrivals q={search.q ?? ''} />}
      </div>
    </>
  );
}

const limit = 30;

/** Lists of guest data are not polled: each read is audited, and an open page must not fill the audit log. */
function Bookings() {
  const { q, integration, status } = route.useSearch();
  const list = usePages('reservations.search', { q, integration, status, limit }, false);
  return <Results q={q} filtered={Boolean(q || integration || status)} list={list} />;
}

function Guests() {
  const { q, integration } = route.useSearch();
  const list = usePages('guests.search', { q, integration, limit }, false);
  return <Results guests q={q} filtered={Boolean(q || integration)} list={list} />;
}

function Results(props: {
  guests?: boolean;
  filtered: boolean;
  q: string | undefined;
  list: ReturnType<typeof usePages<'reservations.search' | 'guests.search'>>;
}) {
  const { q, guests, filtered, list } = props;
  return (
    <Card
      title={q ? `Results for “${q}”` : 'Changed last'}
      aside={
        <Button size="compact-xs" variant="default" onClick={list.refresh} loading={list.busy}>
          Refresh
        </Button>
      }
      flush
    >
      <Table
        label="Results"
        rows={list.rows}
        error={list.error}
        rowKey={({ integration, id }) => `${integration} ${id}`}
        empty={
          filtered ? (
            <Empty title={`No ${guests ? 'guest' : 'reservation'} found`} />
          ) : guests ? (
            <Empty title="No guest profile yet">
              Profiles are kept for brands with a destination that receives guests.
            </Empty>
          ) : (
            <Empty title="No reservation yet">Start a run, or send a first event.</Empty>
          )
        }
        columns={[
          { head: 'Record', cell: (one) => <Name one={one} /> },
          { head: 'Guest', cell: (one) => <GuestName one={one} /> },
          ...(guests ? [] : stayColumns),
          { head: 'Delivered', cell: (one) => <Delivered one={one} /> },
          {
            head: 'Changed',
            cell: ({ changed_at, version }) => (
              <>
                <RelativeTime at={changed_at} /> <span className="muted small">v{version}</span>
              </>
            ),
          },
        ]}
      />
      {list.more}
    </Card>
  );
}

const stayColumns: readonly Column<Found>[] = [
  {
    head: 'Stay',
    cell: ({ data }) => {
      const { check_in, check_out } = reservationOf(data);
      return check_in && <span className="nowrap num">{`${check_in} – ${check_out ?? '?'}`}</span>;
    },
  },
  {
    head: 'Status',
    cell: ({ data }) => {
      const { status } = reservationOf(data);
      return status && <State of={status} />;
    },
  },
];

function Name({ one }: { one: Found }) {
  const { confirmation_number: number } = reservationOf(one.data);
  return (
    <>
      <RecordLink integration={one.integration} type={one.type} id={one.id} lead>
        {number ?? one.id}
      </RecordLink>
      <div className="muted small">
        {[one.integration, number && one.id, one.matched !== 'newest' && `by ${words(one.matched)}`]
          .filter(Boolean)
          .join(' · ')}
      </div>
    </>
  );
}

function GuestName({ one }: { one: Found }) {
  const guests = one.type === 'guest' ? [guestOf(one.data)] : reservationOf(one.data).guests;
  const [guest] = guests;
  return (
    <>
      {(guest && fullName(guest)) || <span className="muted">no name</span>}
      {guests.length > 1 && <span className="muted small"> +{guests.length - 1}</span>}
      <div className="muted small wide-only">{guest?.email ?? guest?.phone ?? ''}</div>
    </>
  );
}

function Delivered({ one }: { one: Found }) {
  const { tone, text } = deliveredOf(one);
  return <State of={text} tone={tone} label={text} />;
}

type Arrival = Answer<'arrivals.search'>['items'][number];

/** What arrived and did not become a record. Without anything, it says what was searched. */
function Arrivals({ q }: { q: string }) {
  const { integration } = route.useSearch();
  const query = useApi('arrivals.search', { q, integration }, { onFocus: false });
  return (
    <Card
      title="What else arrived"
      aside="refused, dropped, held, waiting, not for a sync, no longer listed, erased"
      flush
    >
      <Table
        label="What else arrived"
        rows={query.data?.items}
        error={query.error}
        rowKey={({ outcome, integration: brand, id, dead_letter_id }) => `${outcome} ${brand} ${id} ${dead_letter_id}`}
        empty={query.data && <Searched found={query.data} />}
        columns={[
          {
            head: 'What',
            cell: ({ id, integration: brand, outcome }) => (
              <>
                <span className="name">{outcome === 'erased' ? 'A guest' : (id ?? 'without an id')}</span>
                <div className="muted small">{brand && <BrandLink name={brand} />}</div>
              </>
            ),
          },
          { head: 'Became', cell: ({ outcome }) => <State of={became[outcome].state} label={became[outcome].label} /> },
          { head: 'Why', phone: 'line', cell: (one) => <Why one={one} /> },
        ]}
      />
    </Card>
  );
}

const became: Readonly<Record<Arrival['outcome'], { label: string; state: string }>> = {
  dead_letter: { label: 'Refused', state: 'dead' },
  held: { label: 'Held', state: 'attention' },
  waiting: { label: 'Waiting', state: 'waiting' },
  dropped: { label: 'Dropped by a rule', state: 'calm' },
  superseded: { label: 'Superseded', state: 'calm' },
  not_for_this_sync: { label: 'Not for this sync', state: 'calm' },
  unlisted: { label: 'No longer listed', state: 'attention' },
  erased: { label: 'Erased', state: 'calm' },
};

function Why({ one }: { one: Arrival }) {
  const { outcome, reason, at, times, dead_letter_id, run_id, id } = one;
  const run = run_id && (
    <Link to="/runs/$id" params={{ id: run_id }}>
      the run
    </Link>
  );
  switch (outcome) {
    case 'dead_letter':
    case 'held':
      return (
        <>
          {outcome === 'held' ? 'Held back' : 'Refused'} <RelativeTime at={at} />
          {times > 1 && `, ${plural(times, 'time')}`}: {reason}{' '}
          {dead_letter_id && (
            <Link to="/dead-letters/$id" params={{ id: dead_letter_id }}>
              Dead letter
            </Link>
          )}
        </>
      );
    case 'waiting':
    case 'dropped':
      return (
        <>
          <RelativeTime at={at} />: {reason} {run}
        </>
      );
    case 'superseded':
      return (
        <>
          An event that arrived <RelativeTime at={at} /> is older than what is stored. {reason}
        </>
      );
    case 'not_for_this_sync':
      return (
        <>
          The partner listed it <RelativeTime at={at} />, but its dates belong to another sync: {run}
        </>
      );
    case 'unlisted':
      return (
        <>
          Missing from the partner’s list since {run}, <RelativeTime at={at} />
          {reason && `; asked for it, the partner ${reason === 'present' ? 'still has it' : 'does not have it'}`}.
        </>
      );
    case 'erased':
      return (
        <>
          This address or number was erased <RelativeTime at={at} />, receipt <code>{id}</code>
          {reason && `: ${reason}`}. What arrived since was not stored.
        </>
      );
  }
}

function Searched({ found: { since, refused } }: { found: Answer<'arrivals.search'> }) {
  return (
    <Empty small title="Nothing else found">
      Searched: dead letters, held and dropped data, waiting events
      {since ? ` since ${since.slice(0, 10)}` : ', everything since the first record'}; superseded events and rows that
      a sync left out by the reservation’s id only; payloads as long as they are kept.
      {refused > 0 &&
        ` ${plural(refused, 'webhook')} refused in the last day cannot be searched: nothing of a refused webhook is kept.`}
    </Empty>
  );
}
