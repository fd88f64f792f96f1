import { Button, Select } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import { fullName } from '../api/record.ts';
import type { GuestPair } from '../api/types.ts';
import { useBrandChoices } from '../parts/BrandSelect.tsx';
import { Card, Empty, Failure, Head, Loading, RelativeTime } from '../parts/basics.tsx';
import { nothingShared, nothingToDecide } from '../parts/claims.ts';
import { number } from '../parts/format.ts';
import { RecordLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { useMay } from '../shell/session.ts';
import { consentText } from './ProfileCard.tsx';

const route = getRouteApi('/console/guests');

/** Who is who in a brand: pairs that an operator decides, and addresses that identify nobody. */
export function Guests() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: brands, ...choices } = useBrandChoices(search.integration === undefined ? [] : [search.integration]);
  const brand = search.integration ?? brands[0];
  const destinations = useApi('destinations.list', {}).data?.items ?? [];
  const hasProfiles = destinations.some(
    ({ receives, lanes }) => receives.includes('guest') && lanes.some(({ integration }) => integration === brand),
  );
  return (
    <>
      <Head
        title="Guests"
        lead={
          <>
            Which profiles may be one person, and which addresses identify nobody. To find a guest, search the{' '}
            <Link to="/reservations" search={{ type: 'guest' }}>
              profiles
            </Link>
            .
          </>
        }
      />
      <div className="filters">
        <Select
          {...choices}
          label="Brand"
          data={brands}
          value={brand ?? null}
          allowDeselect={false}
          onChange={(name) => void navigate({ search: { integration: name ?? undefined } })}
        />
      </div>
      {brand !== undefined && (
        <div className="stack">
          <Pairs integration={brand} hasProfiles={hasProfiles} />
          <SharedAddresses integration={brand} hasProfiles={hasProfiles} />
        </div>
      )}
    </>
  );
}

/** Lists of guest data are not polled: each read is audited. */
function Pairs({ integration, hasProfiles }: { integration: string; hasProfiles: boolean }) {
  const { data, error } = useApi('guests.pairs', { integration, limit: 50 }, { onFocus: false });
  return (
    <Card title="Possibly the same person" aside="those with the most bookings first" flush>
      {data === undefined ? (
        error ? (
          <Failure error={error} />
        ) : (
          <Loading />
        )
      ) : data.items.length === 0 ? (
        <Empty small title={nothingToDecide(hasProfiles).text}>
          Profiles that may be one person appear here.
        </Empty>
      ) : (
        <ul className="pairs">
          {data.items.map((pair) => (
            <li key={pair.profiles.map(({ id }) => id).join(' ')}>
              <Pair integration={integration} pair={pair} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const fields = {
  first_name: 'First name',
  last_name: 'Last name',
  email: 'E-mail',
  phone: 'Phone',
  guest_id: 'Guest id',
  date_of_birth: 'Born',
  nationality: 'Nationality',
} as const;
const fieldNames = Object.keys(fields) as (keyof typeof fields)[];

function Pair({ integration, pair: { profiles, reason, found_at } }: { integration: string; pair: GuestPair }) {
  const operator = useMay('operator');
  const [kept, other] = profiles;
  const merge = useAct(
    () => call('guests.merge', { integration, id: other?.id ?? '', into: kept?.id ?? '' }),
    () => 'Merged. The profile on the left has the data of both.',
  );
  const separate = useAct(
    () => call('guests.not_same', { integration, id: kept?.id ?? '', as: other?.id ?? '' }),
    () => 'Remembered: two persons.',
  );
  if (kept === undefined || other === undefined) return null;
  const name = fullName(kept.person) || kept.id;
  const link = (id: string) => <RecordLink integration={integration} type="guest" id={id} />;
  const rows = [
    ['Profile', link(kept.id), link(other.id)] as const,
    ...fieldNames.map((field) => [fields[field], kept.person[field], other.person[field]] as const),
    ['Consent', consentText(kept.person.marketing_consent), consentText(other.person.marketing_consent)] as const,
    ['Bookings', number(kept.bookings), number(other.bookings)] as const,
  ].filter(([, a, b]) => a !== undefined || b !== undefined);
  return (
    <div className="stack">
      <p>
        {reason}{' '}
        <span className="muted small">
          Found <RelativeTime at={found_at} />.
        </span>
      </p>
      <Table
        label={`Two profiles: ${name}`}
        look="diff"
        rows={rows}
        rowKey={([field]) => field}
        columns={[
          { head: 'Field', cell: ([field]) => field },
          { head: 'Stays after a merge', cell: ([, value]) => value ?? '–' },
          { head: 'Merged into it', cell: ([, , value]) => value ?? '–' },
        ]}
      />
      <div className="row">
        {operator && (
          <>
            <Button
              size="xs"
              aria-label={`Merge ${name}`}
              loading={merge.isPending}
              onClick={() => merge.mutate(undefined)}
            >
              Merge
            </Button>
            <Button
              size="xs"
              variant="default"
              aria-label={`Not the same: ${name}`}
              loading={separate.isPending}
              onClick={() => separate.mutate(undefined)}
            >
              Not the same
            </Button>
          </>
        )}
      </div>
    </div>
  );
}

function SharedAddresses({ integration, hasProfiles }: { integration: string; hasProfiles: boolean }) {
  const query = useApi('guests.shared_addresses', { integration }, { onFocus: false, staleMs: 60_000 });
  const operator = useMay('operator');
  const rows = query.data?.items.map((one, index) => ({ ...one, index, text: one.email ?? one.phone ?? '' }));
  return (
    <Card title="Shared addresses and numbers" aside="different persons have them, so they identify nobody alone" flush>
      <Table
        label="Shared addresses and numbers"
        narrow
        rows={rows}
        error={query.error}
        rowKey={({ index }) => String(index)}
        find={({ text }) => text}
        empty={<Empty small title={nothingShared(hasProfiles).text} />}
        columns={[
          {
            head: 'Address or number',
            cell: ({ text }) =>
              operator ? (
                <Link to="/reservations" search={{ type: 'guest', q: text, integration }}>
                  {text}
                </Link>
              ) : (
                text
              ),
          },
          { head: 'Persons', kind: 'number', cell: ({ persons }) => number(persons) },
          { head: 'Bookings', kind: 'number', cell: ({ bookings }) => number(bookings) },
        ]}
      />
    </Card>
  );
}
