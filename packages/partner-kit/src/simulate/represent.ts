import type { JsonObject } from '../json.ts';
import { type HotelCharge, type HotelReservation, type HotelRoom, type HotelStatus, totalMinor } from './booking.ts';
import type { HotelGuest } from './guests.ts';
import type { Hotel } from './hotel.ts';

/** The hotel's reservations as JSON: list elements, rows of a flat list, event data. */

/** checked-in or checked_in: APIs differ. */
export type Spelling = 'hyphen' | 'underscore';

/**
 * full: events carry everything that the list does.
 * thin: events carry only the webhook fields that the interface description lists, and the list lacks the guests' phone numbers, so
 * that neither view contains the other.
 */
export const details = ['full', 'thin'] as const;
export type Detail = (typeof details)[number];

function spellStatus(status: HotelStatus, spelling: Spelling): string {
  return spelling === 'hyphen' ? status.replace('_', '-') : status;
}

/** How an API and its events show reservations. */
export interface Look {
  readonly spelling: Spelling;
  readonly detail: Detail;
}

export function reservationJson(hotel: Hotel, reservation: HotelReservation, { spelling, detail }: Look): JsonObject {
  const { decimals } = hotel.property(reservation.propertyId);
  const guests = hotel.guestsOf(reservation).map(guestJson);
  return {
    id: reservation.id,
    ...headJson(reservation, spelling, decimals),
    guests: detail === 'full' ? guests : guests.map(({ phone: _phone, ...rest }) => rest),
    rooms: reservation.rooms.map(roomJson),
    charges: reservation.charges.map((charge) => chargeJson(charge, decimals)),
  };
}

/** The fields of events that section 2.6 of the interface description lists. */
export const thin = {
  reservation: ['reservation_id', 'confirmation_number', 'check_in', 'check_out', 'status', 'guests', 'stays'],
  guest: ['first_name', 'last_name', 'email', 'phone'],
  stay: ['room_type', 'board_type', 'adults', 'children'],
};

/** The data of a reservation event: reservation_id, stays and board_type instead of id, rooms and board. */
export function eventData(hotel: Hotel, reservation: HotelReservation, { spelling, detail }: Look): JsonObject {
  const { id, rooms: _rooms, charges, ...whole } = reservationJson(hotel, reservation, { spelling, detail: 'full' });
  const stays = reservation.rooms.map((room) => {
    const { board, ...rest } = roomJson(room);
    return only('stay', { ...rest, board_type: boardCodes[board] ?? board }, detail);
  });
  const guests = hotel.guestsOf(reservation).map((guest) => only('guest', guestJson(guest), detail));
  return only('reservation', { reservation_id: id ?? null, ...whole, guests, stays, charges: charges ?? [] }, detail);
}

function only(what: keyof typeof thin, data: JsonObject, detail: Detail): JsonObject {
  if (detail === 'full') return data;
  return Object.fromEntries(thin[what].flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]])));
}

export function guestEventData(
  guest: HotelGuest,
  reservation: HotelReservation | undefined,
  detail: Detail,
): JsonObject {
  return {
    ...only('guest', guestJson(guest), detail),
    ...(reservation === undefined ? {} : { reservation_id: reservation.id }),
  };
}

/** One row per guest, room and charge; each row repeats the reservation's own fields. */
export function flatRows(hotel: Hotel, reservation: HotelReservation, spelling: Spelling): JsonObject[] {
  const { decimals } = hotel.property(reservation.propertyId);
  const head = headJson(reservation, spelling, decimals);
  const charges: readonly JsonObject[] = reservation.charges.map((charge) => {
    const { code, description, amount, quantity } = chargeJson(charge, decimals);
    return {
      line_no: charge.lineNo,
      charge_code: code,
      charge_text: description,
      charge_amount: amount,
      charge_qty: quantity,
    } as JsonObject;
  });
  const rows: JsonObject[] = [];
  for (const guest of hotel.guestsOf(reservation)) {
    for (const room of reservation.rooms) {
      const { start_date: from, end_date: to, ...kind } = roomJson(room);
      for (const charge of charges.length === 0 ? [{}] : charges) {
        rows.push({
          res_no: reservation.id,
          ...head,
          ...guestJson(guest),
          room_no: room.roomNo,
          ...kind,
          from,
          to,
          ...charge,
        } as JsonObject);
      }
    }
  }
  return rows;
}

function headJson(reservation: HotelReservation, spelling: Spelling, decimals: number) {
  return {
    confirmation_number: reservation.confirmationNumber,
    check_in: reservation.checkIn,
    check_out: reservation.checkOut,
    booking_date: reservation.bookingDate,
    status: spellStatus(reservation.status, spelling),
    channel: reservation.channel,
    source: reservation.source,
    total_amount: units(totalMinor(reservation), decimals),
    currency: reservation.currency,
  };
}

/** The fields of a guest by their names in JSON. */
export const guestFields = {
  guest_id: 'guestId',
  first_name: 'firstName',
  last_name: 'lastName',
  email: 'email',
  phone: 'phone',
  date_of_birth: 'dateOfBirth',
  nationality: 'nationality',
  document_type: 'documentType',
  document_number: 'documentNumber',
  marketing_consent: 'marketingConsent',
} as const satisfies Record<string, keyof HotelGuest>;

export function guestJson(guest: HotelGuest): JsonObject {
  const fields = Object.entries(guestFields).map(([name, field]) => [name, guest[field]]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as JsonObject;
}

function roomJson(room: HotelRoom) {
  return {
    room_type: room.roomType,
    board: room.board,
    rate_code: room.rateCode,
    start_date: room.startDate,
    end_date: room.endDate,
    adults: room.adults,
    children: room.children,
  };
}

function chargeJson(charge: HotelCharge, decimals: number) {
  return {
    code: charge.code,
    description: charge.description,
    amount: units(charge.amountMinor, decimals),
    quantity: charge.quantity,
  };
}

const boardCodes: { readonly [board: string]: string } = {
  room_only: 'RO',
  bed_and_breakfast: 'BB',
  half_board: 'HB',
  full_board: 'FB',
  all_inclusive: 'AI',
};

/** Dividing two integers prints the exact decimal, up to fifteen digits. */
function units(minor: number, decimals: number): number {
  return minor / 10 ** decimals;
}
