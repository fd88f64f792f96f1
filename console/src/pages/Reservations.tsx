import { Button, SegmentedControl, Select, TextInput } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import type { Found } from '../api/types.ts';
import { BrandSelect } from '../parts/BrandSelect.tsx';
import { Ago, Card, Empty, Head, Loaded, State } from '../parts/basics.tsx';
import { fullName, plural, words } from '../parts/format.ts';
import { usePages } from '../parts/paging.tsx';

const route = getRouteApi('/desk/reservations');
const statuses = ['confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'other'];

export function Reservations() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [text, setText] = useState(search.q ?? '');
  useEffect(() => setText(search.q ?? ''), [search.q]);
  const type = search.type ?? 'reservation';
  const { query, all, more, again, busy } = usePages<Found>(
    'records',
    `/${type}s`,
    {
      q: search.q,
      integration: search.integration,
      status: type === 'reservation' ? search.status : undefined,
      limit: 30,
    },
    // Not by the clock: that somebody read guest data is audited, and an open page is not a reader.
    false,
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ search: { ...search, q: text.trim() || undefined } });
  };
  return (
    <>
      <Head
        title="Reservations"
        lead="Open one to see where it came from, what was changed and why, and whether each destination has it."
      />
      <form className="filters" onSubmit={submit}>
        <SegmentedControl
          data={[
            { value: 'reservation', label: 'Reservations' },
            { value: 'guest', label: 'Guests' },
          ]}
          value={type}
          onChange={(value) => void navigate({ search: { ...search, type: value === 'guest' ? 'guest' : undefined } })}
          aria-label="What to search"
        />
        <TextInput
          label="Number, name, e-mail or phone"
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
            data={[{ value: '', label: 'Any' }, ...statuses.map((value) => ({ value, label: words(value) }))]}
          />
        )}
        <Button type="submit">Search</Button>
      </form>
      <Loaded query={query}>
        {() => (
          <Card
            title={search.q ? `Found for “${search.q}”` : 'Changed last'}
            aside={
              <Button size="compact-xs" variant="default" onClick={again} loading={busy}>
                Refresh
              </Button>
            }
            flush
          >
            {all.length === 0 ? (
              <Empty title="Nothing is found">
                {search.q
                  ? 'It may not have arrived, or may have failed before it became a record: look at the dead letters and at the last run of its brand.'
                  : 'Nothing has come in yet. Start a run, or send a first event.'}
              </Empty>
            ) : (
              <Results found={all} />
            )}
            {more}
          </Card>
        )}
      </Loaded>
    </>
  );
}

function Results({ found }: { found: readonly Found[] }) {
  return (
    <table className="list folds">
      <thead>
        <tr>
          <th scope="col">Booking</th>
          <th scope="col">Guest</th>
          <th scope="col">Stay</th>
          <th scope="col">Status</th>
          <th scope="col">Delivered</th>
          <th scope="col">Changed</th>
        </tr>
      </thead>
      <tbody>
        {found.map((one) => (
          <Row key={`${one.integration} ${one.id}`} one={one} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ one }: { one: Found }) {
  const { data } = one;
  const guests = data.guests ?? [];
  const guest = one.type === 'guest' ? data : guests[0];
  return (
    <tr>
      <td>
        <Link
          to="/reservations/$name/$type/$id"
          params={{ name: one.integration, type: `${one.type}s`, id: one.id }}
          className="name"
        >
          {data.confirmation_number ?? one.id}
        </Link>
        <div className="muted small">
          {one.integration}
          {data.confirmation_number && ` · ${one.id}`}
          {one.matched !== 'newest' && ` · by ${words(one.matched)}`}
        </div>
      </td>
      <td>
        {fullName(guest) || <span className="muted">no name</span>}
        {guests.length > 1 && <span className="muted small"> +{guests.length - 1}</span>}
        <div className="muted small off">{guest?.email ?? guest?.phone ?? ''}</div>
      </td>
      <td className="nowrap num">{data.check_in ? `${data.check_in} – ${data.check_out ?? '?'}` : ''}</td>
      <td>{data.status && <State of={data.status} />}</td>
      <td>
        {one.open_dead_letters > 0 ? (
          <State of="held" label={plural(one.open_dead_letters, 'dead letter')} />
        ) : one.undelivered > 0 ? (
          <State of="waiting" label={`${one.undelivered} to go`} />
        ) : (
          <State of="delivered" label="Everywhere" />
        )}
      </td>
      <td>
        <Ago at={one.changed_at} /> <span className="muted small">v{one.version}</span>
      </td>
    </tr>
  );
}
