import { matching, oneOf, refused, text, type Vendor, xml } from '../vendor.ts';
import type { Status, Stay } from '../world.ts';

/** Guestline's RLXSOAP: SOAP with credentials in the header, a reservation for each room, errors inside a 200. */
const moment = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
const local = (at: string) => new Date(at).toLocaleString('sv-SE', { timeZone: 'Europe/London' }).replace(' ', 'T');
const words: Record<Status, string> = {
  confirmed: 'Guaranteed',
  checked_in: 'Resident',
  checked_out: 'Departed',
  cancelled: 'Cancelled',
  no_show: 'NoShow',
};
const namespace = 'http://tempuri.org/RLXSOAP19/RLXSOAP19';

const rowOf = (stay: Stay) => ({
  RoomId: '104',
  BookRef: `BK${stay.no}`,
  RoomPickId: 1,
  BookingType: 'Individual',
  BookingStatus: words[stay.status],
  RoomTypeCode: stay.rooms[0]?.type,
  PackageCode: 'BB',
  Arrival: `${stay.checkIn}T14:00:00`,
  Departure: `${stay.checkOut}T11:00:00`,
  Creation: local(stay.bookedAt),
  Guests: {
    Guest: [
      {
        Name: `Ms ${stay.first} ${stay.last}`,
        Salutation: 'Ms',
        Forename: stay.first,
        Surname: stay.last,
        TypeOfPerson: 'Adult',
        ProfileRef: `P${stay.no}`,
      },
      ...(stay.no % 2 === 0
        ? [{ Name: 'Second Guest', Forename: 'Second', Surname: 'Guest', TypeOfPerson: 'Adult' }]
        : []),
    ],
  },
  MarketSegment: 'LEI',
  TotalCostNett: '1.00',
  TotalCostGross: stay.amount,
  LastEdited: local(stay.changedAt),
  CRSRef1: `BDC-${stay.no}`,
  SystemSource: 'WEB',
});

const answer = (body: Record<string, unknown>) =>
  xml({
    'soap:Envelope': { '@xmlns:soap': 'http://schemas.xmlsoap.org/soap/envelope/', 'soap:Body': body },
  });

const inBody = (name: string) => `Envelope.Body.pmsbkg_BookingSearch.${name}`;

export const vendor: Vendor = {
  system: 'guestline',
  env: { CLIENT_ID: '77', USERNAME: 'operator', PASSWORD: 'a-password', PROPERTY: 'SITE1' },
  statuses: ['checked_in', 'checked_out', 'no_show'],
  currency: 'GBP',
  limited: { status: 503, raw: '<busy/>' },
  // E-mails are in profiles, which are not given out by their reference alone.
  expects: ({ no }) => ({ id: `BK${no}/1`, email: undefined, adults: undefined }),
  routes: [
    {
      method: 'POST',
      path: '/RLXSoapRouter/rlxsoap.asmx',
      encoding: 'xml',
      headers: { 'content-type': /^text\/xml/, soapaction: `${namespace}/pmsbkg_BookingSearch` },
      body: {
        'Envelope.Header.AuthenticationContext.SiteId': oneOf('SITE1'),
        'Envelope.Header.AuthenticationContext.InterfaceId': oneOf('77'),
        'Envelope.Header.AuthenticationContext.OperatorCode': oneOf('operator'),
        'Envelope.Header.AuthenticationContext.Password': text,
        [inBody('Filters.LastEditFrom')]: moment,
        [inBody('Filters.LastEditTo')]: moment,
      },
      answer: (asked, book) => {
        const fail = (code: number) =>
          answer({
            pmsbkg_BookingSearchResponse: { '@xmlns': namespace, pmsbkg_BookingSearchResult: { ExceptionCode: code } },
          });
        if (asked.text('Envelope.Header.AuthenticationContext.Password') !== 'a-password') return fail(-2);
        const [from, to] = [asked.text(inBody('Filters.LastEditFrom')), asked.text(inBody('Filters.LastEditTo'))];
        if (from === '') return refused(400, 'no filter');
        const found = book.filter(({ changedAt }) => local(changedAt) >= from && local(changedAt) <= to).map(rowOf);
        return answer({
          pmsbkg_BookingSearchResponse: {
            '@xmlns': namespace,
            pmsbkg_BookingSearchResult: { ExceptionCode: 0 },
            SearchResults: { Reservations: found.length === 0 ? null : { Reservation: found } },
          },
        });
      },
    },
  ],
};
