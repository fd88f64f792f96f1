import { Button } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useApi } from '../api/query.tsx';
import type { HotelReport, Integration } from '../api/types.ts';
import { Ago, Card, Empty, Facts, Head, Loaded, Notice, type Reading, State } from '../parts/basics.tsx';
import { number, percent, plural } from '../parts/format.ts';
import { BrandLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { Nights } from './hotel/Nights.tsx';

const route = getRouteApi('/desk/hotels/$name');

/** What the manager of a hotel reads every morning; it fits on a page of paper. */
export function Hotel() {
  const { name } = route.useParams();
  const query = useApi('integrations.hotel', { integration: name }, { everyMs: 60_000 });
  const brand = useApi('integrations.get', { integration: name, hours: 3 }, { everyMs: 60_000 });
  const reasons = incoming(brand.data)
    .map(({ message }) => message)
    .join(' ');
  const crumb = <BrandLink name={name} />;
  const title = `${name}, this morning`;
  return (
    <Loaded query={query} head={<Head title={title} crumb={crumb} />}>
      {({ report }) => (
        <>
          <Head title={title} crumb={crumb} lead={report && <Counted report={report} />}>
            <Button variant="default" onClick={() => print()}>
              Print
            </Button>
          </Head>
          <div className="stack">
            {reasons && (
              <Notice tone="warn" title="These numbers may be incomplete or old">
                {reasons}
              </Notice>
            )}
            {report ? (
              <Report name={name} report={report} brand={brand} />
            ) : (
              <Empty title="Nothing counted yet">
                A report is counted a minute after the first reservations arrive.
              </Empty>
            )}
          </div>
        </>
      )}
    </Loaded>
  );
}

const longDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });
const Counted = ({ report: { day, counted_at } }: { report: HotelReport }) => (
  <>
    {longDay.format(new Date(day))} · counted <Ago at={counted_at} />
  </>
);

function Report({ name, report, brand }: { name: string; report: HotelReport; brand: Reading<Integration> }) {
  return (
    <div className="stack hotel">
      <Today report={report} />
      <div className="split">
        <Card title="The next 90 nights" aside={report.nights[0]?.rooms_available == null ? 'rooms sold' : 'occupancy'}>
          <Nights nights={report.nights} />
        </Card>
        <div className="stack">
          <Pace report={report} />
          <Channels report={report} />
          <Freshness name={name} brand={brand} />
        </div>
      </div>
    </div>
  );
}

function Today({ report }: { report: HotelReport }) {
  const { arrivals, departures, in_house } = report.today;
  const { week, week_before } = report.cancellations;
  const rooms = report.nights[0]?.rooms_available;
  const known = report.guests.returning + report.guests.new;
  const figures = [
    [
      'Arrivals today',
      arrivals.reservations,
      `${arrivals.done} arrived · ${plural(arrivals.people, 'person', 'people')}`,
    ],
    ['Departures today', departures.reservations, `${departures.done} left · ${plural(departures.rooms, 'room')}`],
    [
      'In house tonight',
      in_house.rooms,
      `${rooms ? `${percent(in_house.rooms / rooms)} of ${rooms} rooms` : plural(in_house.rooms, 'room')} · ${plural(in_house.people, 'person', 'people')}`,
    ],
    [
      'Cancelled in 7 days',
      week.reservations,
      `${plural(week.room_nights, 'room night')} · ${week_before.reservations} the week before`,
    ],
    [
      'Returning guests',
      known === 0 ? '–' : percent(report.guests.returning / known),
      known === 0 && report.guests.unknown > 0
        ? 'no profiles: no destination receives guests'
        : `${report.guests.returning} of ${known} arrivals in 7 days`,
    ],
  ] as const;
  return (
    <div className="figures five">
      {figures.map(([label, value, detail]) => (
        <div key={label} className="figure">
          <span className="label">{label}</span>
          <span className="value">{typeof value === 'number' ? number(value) : value}</span>
          <span className="muted small">{detail}</span>
        </div>
      ))}
    </div>
  );
}

const parts = ['1–30', '31–60', '61–90'];

/** A change in words of a table: +12, −3, or nothing. */
function Change({ now, then }: { now: number; then: number }) {
  const by = now - then;
  return (
    <>
      {number(then)}{' '}
      <span className="small" data-tone={by > 0 ? 'good' : by < 0 ? 'bad' : 'calm'}>
        {by > 0 ? `+${number(by)}` : by < 0 ? `−${number(-by)}` : '±0'}
      </span>
    </>
  );
}

function Pace({ report }: { report: HotelReport }) {
  return (
    <Card title="Pace" aside="room nights on the books, and by how much we are ahead" flush>
      <Table
        label="Pace"
        narrow
        rows={report.pace}
        rowKey={({ from }) => from}
        columns={[
          { head: 'Nights', cell: ({ from }) => parts[report.pace.findIndex((one) => one.from === from)] },
          { head: 'Now', kind: 'number', cell: ({ now }) => number(now) },
          { head: 'A week ago', kind: 'number', cell: ({ now, week_ago }) => <Change now={now} then={week_ago} /> },
          {
            head: 'Last year',
            kind: 'number',
            cell: ({ now, year_ago, year_ago_final }) =>
              year_ago + year_ago_final > 0 ? <Change now={now} then={year_ago} /> : '–',
          },
          {
            head: 'It ended at',
            kind: 'number',
            cell: ({ year_ago, year_ago_final }) => (year_ago + year_ago_final > 0 ? number(year_ago_final) : '–'),
          },
        ]}
      />
    </Card>
  );
}

function Channels({ report: { channels } }: { report: HotelReport }) {
  const total = channels.reduce((sum, { room_nights }) => sum + room_nights, 0);
  return (
    <Card title="Channels" aside="room nights of the next 90 nights" flush>
      <Table
        label="Channels"
        narrow
        rows={channels.slice(0, 8)}
        rowKey={({ channel }) => channel}
        empty={<Empty small title="Nothing on the books" />}
        columns={[
          { head: 'Channel', cell: ({ channel }) => channel },
          {
            head: 'Share',
            cell: ({ room_nights }) => (
              <span className="share">
                <i style={{ inlineSize: `${(100 * room_nights) / total}%` }} />
              </span>
            ),
          },
          { head: 'Percent', silent: true, kind: 'number', cell: ({ room_nights }) => percent(room_nights / total) },
          { head: 'Room nights', kind: 'number', cell: ({ room_nights }) => number(room_nights) },
        ]}
      />
    </Card>
  );
}

/** What concerns the numbers, the worst first: not whether a CRM receives them. */
const incoming = (brand: Pick<Integration, 'findings'> | undefined) =>
  (brand?.findings ?? []).filter(({ cause }) => !cause.startsWith('destination:'));

/** How far these numbers can be trusted: the state of the brand, its newest data, and how complete that was. */
function Freshness({ name, brand }: { name: string; brand: Reading<Integration> }) {
  const quality = useApi('integrations.quality', { integration: name, days: 7 }, { everyMs: 60_000 });
  const sum = (count: 'reservations' | 'guests' | 'total_amount' | 'channel' | 'email') =>
    (quality.data?.items ?? []).reduce((all, day) => all + day[count], 0);
  const share = (count: 'total_amount' | 'channel' | 'email', of: 'reservations' | 'guests') =>
    sum(of) === 0 ? 'not counted yet' : percent(sum(count) / sum(of));
  return (
    <Card
      title="How good the data is"
      aside={
        <Link to="/integrations/$name" params={{ name }}>
          details
        </Link>
      }
    >
      <Loaded query={{ data: quality.data && brand.data, error: brand.error ?? quality.error }}>
        {({ findings, last_run_at, push }) => (
          <Facts
            facts={[
              ['Connection', <State key="state" of={incoming({ findings })[0]?.state ?? 'healthy'} />],
              ['Last poll', <Ago key="poll" at={last_run_at} none="none" />],
              ['Last event', <Ago key="event" at={push.last_event_at} none="none" />],
              ['With an amount', share('total_amount', 'reservations')],
              ['With a channel', share('channel', 'reservations')],
              ['Guests with an e-mail address', share('email', 'guests')],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
