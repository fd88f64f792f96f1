import { basicOf, listOf, matching, oneOf, type Route, refused, text, type Vendor, xml } from '../vendor.ts';
import { dayAfter, nightsOf, type Stay } from '../world.ts';

/** Booking.com: a queue of new reservations and one of changes, each acknowledged by the reservation's number; minor units. */
const namespace = { '@xmlns': 'http://www.opentravel.org/OTA/2003/05', '@Version': '2.001' };
const acknowledged = new Set<string>();
const keyOf = (queue: string, stay: Stay) =>
  `${queue} ${stay.no} ${queue === 'new' ? '' : `${stay.changedAt} ${stay.amount}`}`;
const numberOf = ({ no }: Stay) => String(4_705_950_000 + no);
const isChanged = ({ changedAt, bookedAt }: Stay) => changedAt !== bookedAt;

const customer = (first: string | undefined, last: string, more: object = {}) => ({
  ProfileInfo: {
    Profile: { Customer: { PersonName: { ...(first && { GivenName: first }), Surname: last }, ...more } },
  },
});

const reservationOf = (stay: Stay, status?: string) => ({
  '@CreateDateTime': stay.bookedAt.replace('Z', '+00:00'),
  ...(status && { '@ResStatus': status, '@LastModifyDateTime': stay.changedAt.replace('Z', '+00:00') }),
  RoomStays: {
    RoomStay: stay.rooms.map((room, i) => ({
      '@IndexNumber': stay.no * 10 + i,
      RoomTypes: { RoomType: { '@RoomTypeCode': room.type } },
      RatePlans: { RatePlan: { '@RatePlanCode': '49111' } },
      GuestCounts: { GuestCount: { '@Count': room.adults } },
      // Whole, or night by night.
      ...(stay.no % 2 === 0
        ? { TimeSpan: { '@Start': stay.checkIn, '@End': stay.checkOut } }
        : {
            RoomRates: {
              RoomRate: Array.from({ length: nightsOf(stay) }, (_, night) => ({
                '@EffectiveDate': dayAfter(stay.checkIn, night),
              })),
            },
          }),
      Total: { '@AmountAfterTax': '1', '@DecimalPlaces': '2', '@CurrencyCode': stay.currency },
      BasicPropertyInfo: { '@HotelCode': '10003' },
    })),
  },
  ResGuests: { ResGuest: { '@ResGuestRPH': '1', Profiles: customer(undefined, `${stay.first} ${stay.last}`) } },
  ResGlobalInfo: {
    Comments: { Comment: { Text: 'Non-smoking please' } },
    Total: {
      '@AmountAfterTax': Math.round(Number(stay.amount) * 100),
      '@DecimalPlaces': '2',
      '@CurrencyCode': stay.currency,
    },
    HotelReservationIDs: {
      HotelReservationID: { '@ResID_Value': numberOf(stay), '@ResID_Source': 'BOOKING.COM', '@ResID_Type': '14' },
    },
    Profiles: customer(stay.first, stay.last, {
      Telephone: { '@PhoneNumber': stay.phone },
      Email: stay.email,
      Address: { CityName: 'Amsterdam', CountryName: { '@Code': 'NL' } },
    }),
  },
});

function queue(path: string, kind: 'new' | 'changes', message: string, list: string, item: string): Route[] {
  const response = message.replace('RQ', 'RS');
  const place = `${response}.${list}.${item}`;
  const id = `${place}.ResGlobalInfo.HotelReservationIDs.HotelReservationID`;
  return [
    {
      method: 'GET',
      path,
      headers: { accept: /xml/ },
      answer: (_asked, book) => {
        const open = book.filter((stay) => (kind === 'new' || isChanged(stay)) && !acknowledged.has(keyOf(kind, stay)));
        const rows = open
          .slice(0, 40)
          .map((stay) =>
            kind === 'new'
              ? reservationOf({ ...stay, ...(isChanged(stay) && { amount: '1.00' }) })
              : reservationOf(stay, stay.status === 'cancelled' ? 'Cancel' : 'Modify'),
          );
        return xml({ [message]: { ...namespace, ...(rows.length > 0 && { [list]: { [item]: rows } }) } });
      },
    },
    {
      method: 'POST',
      path,
      encoding: 'xml',
      headers: { 'content-type': /xml/ },
      body: {
        [`${response}.@TimeStamp`]: matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        [`${response}.@Target`]: oneOf('Production', 'Test'),
        [`${response}.@Version`]: oneOf('2.001'),
        [`${response}.Success`]: matching(/^null$/),
        [place]: listOf(text),
        [`${id}.@ResID_Value`]: text,
        [`${id}.@ResID_Source`]: oneOf('BOOKING.COM'),
        [`${id}.@ResID_Type`]: oneOf('14'),
      },
      answer: (asked, book) => {
        const several = [asked.body[place] ?? []].flat() as {
          ResGlobalInfo?: { HotelReservationIDs?: { HotelReservationID?: { '@ResID_Value'?: string } } };
        }[];
        const ids = [
          asked.text(`${id}.@ResID_Value`),
          ...several.map((one) => one.ResGlobalInfo?.HotelReservationIDs?.HotelReservationID?.['@ResID_Value']),
        ];
        for (const stay of book) if (ids.includes(numberOf(stay))) acknowledged.add(keyOf(kind, stay));
        return xml({ ok: null });
      },
    },
  ];
}

export const vendor: Vendor = {
  system: 'booking-com',
  base: '/hotels/ota',
  env: { USERNAME: 'machine', PASSWORD: 'a-password', PROPERTY: '10003' },
  rooms: 3,
  authorize: ({ headers }) =>
    headers.authorization === basicOf('machine', 'a-password') ? undefined : refused(401, 'Unauthorized'),
  limited: { status: 429, headers: { 'retry-after': '5' }, raw: '<wait/>' },
  expects: (stay) => ({ id: numberOf(stay) }),
  routes: [
    ...queue('/OTA_HotelResNotif', 'new', 'OTA_HotelResNotifRQ', 'HotelReservations', 'HotelReservation'),
    ...queue('/OTA_HotelResModifyNotif', 'changes', 'OTA_HotelResModifyNotifRQ', 'HotelResModifies', 'HotelResModify'),
  ],
};
