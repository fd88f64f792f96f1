import { listOf, matching, oneOf, text, type Vendor, xml } from '../vendor.ts';
import type { Stay } from '../world.ts';

/** SiteMinder pmsXchange: SOAP with WS-Security, a queue of messages about reservations, each confirmed by its own id. */
const confirmed = new Set<string>();

interface Message {
  readonly id: string;
  readonly stay: Stay;
  readonly action: 'Book' | 'Modify' | 'Cancel';
  readonly at: string;
}

/** A booking that changed since it was made is two messages. */
function messagesOf(book: readonly Stay[]): Message[] {
  const all = book.flatMap((stay): Message[] => {
    const first = { ...stay, status: 'confirmed' as const, amount: '1.00', cancelledAt: undefined };
    const now = stay.status === 'cancelled' ? ('Cancel' as const) : ('Modify' as const);
    const made: Message = { id: `${stay.no}0`, stay: first, action: 'Book', at: stay.bookedAt };
    const changed = { id: `${stay.no}1-${stay.changedAt}`, stay, action: now, at: stay.changedAt };
    return stay.bookedAt === stay.changedAt ? [{ ...made, stay }] : [made, changed];
  });
  return all.filter(({ id }) => !confirmed.has(id));
}

const count = (age: string, many: number) => (many === 0 ? [] : [{ '@AgeQualifyingCode': age, '@Count': many }]);

const reservationOf = ({ id, stay, action, at }: Message) => ({
  '@CreateDateTime': stay.bookedAt.replace('Z', '.000+0000'),
  ...(action !== 'Book' && { '@LastModifyDateTime': at.replace('Z', '.000+0000') }),
  '@ResStatus': action,
  POS: {
    Source: [
      {
        RequestorID: { '@Type': '22', '@ID': 'SITEMINDER' },
        BookingChannel: { '@Primary': 'true', CompanyName: { '@Code': 'EXP', '#text': 'Expedia' } },
      },
      { BookingChannel: { '@Primary': 'false', CompanyName: { '@Code': 'EXPA', '#text': 'Expedia Affiliate' } } },
    ],
  },
  UniqueID: [
    { '@Type': '14', '@ID': `EXP-${stay.no}` },
    { '@Type': '16', '@ID': id, '@ID_Context': 'MESSAGE_UNIQUE_ID' },
  ],
  RoomStays: {
    RoomStay: stay.rooms.map((room) => ({
      '@MarketCode': 'Corporate',
      RoomTypes: { RoomType: { '@RoomType': 'Double Room', '@RoomTypeCode': room.type } },
      RatePlans: { RatePlan: { '@RatePlanCode': 'GLD' } },
      GuestCounts: { GuestCount: [...count('10', room.adults), ...count('8', room.children)] },
      TimeSpan: { '@Start': stay.checkIn, '@End': stay.checkOut },
      Total: { '@AmountAfterTax': '120.00', '@CurrencyCode': stay.currency },
      BasicPropertyInfo: { '@HotelCode': '10107' },
      ResGuestRPHs: { ResGuestRPH: { '@RPH': '1' } },
    })),
  },
  ResGuests: {
    ResGuest: {
      '@ResGuestRPH': '1',
      Profiles: {
        ProfileInfo: [
          { Profile: { '@ProfileType': '3', CompanyInfo: { CompanyName: 'Acme' } } },
          {
            Profile: {
              '@ProfileType': '1',
              Customer: {
                PersonName: { GivenName: stay.first, Surname: stay.last },
                Telephone: { '@PhoneNumber': stay.phone },
                Email: stay.no % 2 === 0 ? stay.email : { '@EmailType': '1', '#text': stay.email },
              },
            },
          },
        ],
      },
    },
  },
  ResGlobalInfo: { Total: { '@AmountAfterTax': stay.amount, '@CurrencyCode': stay.currency } },
});

const soap = (body: Record<string, unknown>) =>
  xml({
    'SOAP-ENV:Envelope': {
      '@xmlns:SOAP-ENV': 'http://schemas.xmlsoap.org/soap/envelope/',
      'SOAP-ENV:Header': null,
      'SOAP-ENV:Body': body,
    },
  });
const stamps = { '@xmlns': 'http://www.opentravel.org/OTA/2003/05', '@Version': '1.0', '@EchoToken': 'e' };
const user = 'Envelope.Header.Security.UsernameToken';
const moment = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const message = (name: string) => ({
  [`Envelope.Body.${name}.@Version`]: oneOf('1.0'),
  [`Envelope.Body.${name}.@EchoToken`]: text,
  [`Envelope.Body.${name}.@TimeStamp`]: moment,
});
const report = 'Envelope.Body.OTA_NotifReportRQ';
const reported = `${report}.NotifDetails.HotelNotifReport.HotelReservations.HotelReservation`;

export const vendor: Vendor = {
  system: 'siteminder-pmsxchange',
  env: { CLIENT_ID: 'INNB', USERNAME: 'pms', PASSWORD: 'a-password', PROPERTY: '10107' },
  rooms: 3,
  limited: { status: 503, raw: '<busy/>' },
  expects: ({ no }) => ({ id: `EXP-${no}` }),
  routes: [
    {
      method: 'POST',
      path: '/pmsxchangev2/services/INNB',
      encoding: 'xml',
      headers: { 'content-type': /^text\/xml/ },
      body: {
        'Envelope.Header.Security.@mustUnderstand': oneOf('1'),
        [`${user}.Username`]: oneOf('pms'),
        [`${user}.Password.@Type`]: matching(/#PasswordText$/),
        [`${user}.Password.#text`]: text,
        ...message('OTA_ReadRQ'),
        'Envelope.Body.OTA_ReadRQ.POS.Source.RequestorID.@Type': oneOf('22'),
        'Envelope.Body.OTA_ReadRQ.POS.Source.RequestorID.@ID': oneOf('INNB'),
        'Envelope.Body.OTA_ReadRQ.ReadRequests.HotelReadRequest.@HotelCode': oneOf('10107'),
        'Envelope.Body.OTA_ReadRQ.ReadRequests.HotelReadRequest.SelectionCriteria.@SelectionType': oneOf('Undelivered'),
        ...message('OTA_NotifReportRQ'),
        [`${report}.Success`]: matching(/^null$/),
        [reported]: listOf(text),
        [`${reported}.UniqueID.@Type`]: oneOf('16'),
        [`${reported}.UniqueID.@ID`]: text,
        [`${reported}.UniqueID.@ID_Context`]: oneOf('MESSAGE_UNIQUE_ID'),
      },
      answer: (asked, book) => {
        const fault = (text: string) => soap({ 'SOAP-ENV:Fault': { faultcode: 'Client', faultstring: text } });
        if (asked.text(`${user}.Password.#text`) !== 'a-password') return fault('Authentication failed');
        if (asked.text('Envelope.Body.OTA_ReadRQ.@Version') !== '') {
          // A few messages at once, as a queue has it; those of one reservation often together.
          const found = messagesOf(book).slice(0, 30).map(reservationOf);
          const list = found.length === 0 ? null : { HotelReservation: found };
          return soap({ OTA_ResRetrieveRS: { ...stamps, Success: null, ReservationsList: list } });
        }
        const one = asked.text(`${reported}.UniqueID.@ID`);
        const several = [asked.body[reported] ?? []].flat() as { UniqueID?: { '@ID'?: string } }[];
        const ids = one === '' ? several.map(({ UniqueID: id }) => id?.['@ID'] ?? '') : [one];
        for (const id of ids) confirmed.add(id);
        return soap({ OTA_NotifReportRS: { ...stamps, Success: null } });
      },
    },
  ],
};
