import { Button } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useApi } from '../api/query.tsx';
import type { HotelReport, Integration } from '../api/types.ts';
import { Card, Empty, Facts, Head, Loaded, Notice, type Reading, RelativeTime, State } from '../parts/basics.tsx';
import { percent, plural } from '../parts/format.ts';
import { BrandLink } from '../parts/links.tsx';
import { Channels } from './hotel/Channels.tsx';
import { Months } from './hotel/Months.tsx';
import { Nights } from './hotel/Nights.tsx';
import { Pace } from './hotel/Pace.tsx';
import { Today } from './hotel/Today.tsx';

const route = getRouteApi('/console/hotels/$name');

/** What the manager of a hotel reads every morning; it fits on a page of paper. */
export function Hotel() {
  const { name } = route.useParams();
  const query = useApi('integrations.hotel', { integration: name }, { everyMs: 10_000 });
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
              <Notice tone="warn" title="Read these numbers with care">
                {reasons}
              </Notice>
            )}
            {report ? (
              <Report name={name} report={report} brand={brand} />
            ) : (
              <Empty title="Nothing counted yet">It is counted within a minute of the first reservations.</Empty>
            )}
          </div>
        </>
      )}
    </Loaded>
  );
}

const longDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' });
const Counted = ({ report: { day, counted_at, behind } }: { report: HotelReport }) => (
  <>
    {longDay.format(new Date(day))} · counted <RelativeTime at={counted_at} />
    {behind > 0 && <strong> · {plural(behind, 'change')} since then, not in these figures yet</strong>}
  </>
);

function Report({ name, report, brand }: { name: string; report: HotelReport; brand: Reading<Integration> }) {
  return (
    <div className="stack hotel">
      <Unknown report={report} />
      <Today report={report} />
      <Months name={name} report={report} />
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
      <Definition report={report} />
    </div>
  );
}

/** Nights that nobody asked the partner for, and amounts that no rate converts. */
function Unknown({ report: { nights, left_out, currency } }: { report: HotelReport }) {
  const unknown = nights.filter(({ known }) => !known).length;
  return (
    <>
      {unknown > 0 && (
        <Notice
          tone="info"
          title={`${plural(unknown, 'night')} of the next 90 ${unknown === 1 ? 'is' : 'are'} not known`}
        >
          The partner was not asked for {unknown === 1 ? 'it' : 'them'}. A wider <code>range</code> of the pre-stay
          sync, or a backfill of a brand with events, shows {unknown === 1 ? 'it' : 'them'}.
        </Notice>
      )}
      {left_out.length > 0 && (
        <Notice tone="warn" title={`Amounts in ${left_out.join(', ')} are left out`}>
          The integration document has no rate to {currency}: <code>measures.rates</code>.
        </Notice>
      )}
    </>
  );
}

/** What the figures count, in a line below them. */
function Definition({ report: { definition, rates, currency, forecast_errors } }: { report: HotelReport }) {
  const counts =
    definition === 'usali' ? 'By USALI: complimentary rooms are not sold.' : 'Complimentary rooms are sold.';
  const errors = forecast_errors.map(({ days, rooms }) => `${rooms} rooms a night at ${days} days`).join(', ');
  return (
    <p className="muted small">
      {counts} Room revenue, day use included{currency && `, in ${currency}`}
      {rates.map((one) => `, 1 ${one.currency} = ${one.rate} ${currency} (${one.from})`).join('')}. The forecast adds
      what the last eight nights of the weekday still sold
      {errors === ''
        ? '; there are too few past nights to measure its error.'
        : `; on the last 28 nights it was off by ${errors}.`}
    </p>
  );
}

const notOfNumbers = ['new', 'delivers_nowhere', 'no_email', 'partner_waiting'];
/** What concerns the numbers, the worst first: neither whether a CRM receives them, nor whether guests can be written to. */
const incoming = (brand: Pick<Integration, 'findings'> | undefined) =>
  (brand?.findings ?? []).filter(
    ({ kind, cause }) => !cause.startsWith('destination:') && !notOfNumbers.includes(kind),
  );

/** Nothing said against it is no health: without a booking there is nothing to say it of. */
const connection = (state: Integration['state'], restsOn: string | null) =>
  state === 'paused' ? state : restsOn === null ? 'new' : 'healthy';

/** How far these numbers can be trusted: the state of the brand, its newest data, and how complete that was. */
function Freshness({ name, brand }: { name: string; brand: Reading<Integration> }) {
  const quality = useApi('integrations.quality', { integration: name, days: 7 }, { everyMs: 60_000 });
  const sum = (count: 'reservations' | 'total_amount' | 'channel') =>
    (quality.data?.items ?? []).reduce((all, day) => all + day[count], 0);
  const share = (count: 'total_amount' | 'channel') =>
    sum('reservations') === 0 ? 'not counted yet' : percent(sum(count) / sum('reservations'));
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
        {({ state, findings, rests_on, last_run_at, push }) => (
          <Facts
            facts={[
              ['Rests on', rests_on ?? 'no booking yet'],
              [
                'Connection',
                <State key="state" of={incoming({ findings })[0]?.state ?? connection(state, rests_on)} />,
              ],
              ['Last poll', <RelativeTime key="poll" at={last_run_at} none="none" />],
              ['Last event', <RelativeTime key="event" at={push.last_event_at} none="none" />],
              ['With an amount', share('total_amount')],
              ['With a channel', share('channel')],
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}
