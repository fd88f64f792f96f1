import { Button, Select, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { usePages } from '../api/query.tsx';
import { fullName, guestOf, reservationOf } from '../api/record.ts';
import type { Found } from '../api/types.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Ago, Card, Empty, Head, State } from '../parts/basics.tsx';
import { Choice } from '../parts/Choice.tsx';
import { deliveredOf } from '../parts/claims.ts';
import { words } from '../parts/format.ts';
import { RecordLink } from '../parts/links.tsx';
import { type Column, Table } from '../parts/Table.tsx';
import { reservationStatuses } from '../shell/filters.ts';

const route = getRouteApi('/desk/reservations');

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
      {type === 'guest' ? <Guests /> : <Bookings />}
    </>
  );
}

const limit = 30;

/** Lists of guest data are not polled: each read is audited, and an open page must not fill the audit log. */
function Bookings() {
  const { q, integration, status } = route.useSearch();
  return <Results q={q} list={usePages('reservations.search', { q, integration, status, limit }, false)} />;
}

function Guests() {
  const { q, integration } = route.useSearch();
  return <Results guests q={q} list={usePages('guests.search', { q, integration, limit }, false)} />;
}

function Results(props: {
  guests?: boolean;
  q: string | undefined;
  list: ReturnType<typeof usePages<'reservations.search' | 'guests.search'>>;
}) {
  const { q, list } = props;
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
          <Empty title="Nothing found">
            {q
              ? 'It may not have arrived, or it failed before it became a record. Check the dead letters and the brand’s last run.'
              : 'No data has arrived yet. Start a run, or send a first event.'}
          </Empty>
        }
        columns={[
          { head: 'Record', cell: (one) => <Name one={one} /> },
          { head: 'Guest', cell: (one) => <GuestName one={one} /> },
          ...(props.guests ? [] : stayColumns),
          { head: 'Delivered', cell: (one) => <Delivered one={one} /> },
          {
            head: 'Changed',
            cell: ({ changed_at, version }) => (
              <>
                <Ago at={changed_at} /> <span className="muted small">v{version}</span>
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
