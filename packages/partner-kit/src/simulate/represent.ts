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

export function reservationJson(
  hotel: Hotel,
  reservation: HotelReservation,
  spelling: Spelling,
  detail: Detail = 'full',
): JsonObject {
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

/** The data of a reservation event: reservation_id, stays and board_type instead of id, rooms and board. */
export function eventData(
  hotel: Hotel,
  reservation: HotelReservation,
  spelling: Spelling,
  detail: Detail = 'full',
): JsonObject {
  if (detail === 'thin') return thinEventData(hotel, reservation, spelling);
  const { decimals } = hotel.property(reservation.propertyId);
  return {
    reservation_id: reservation.id,
    ...headJson(reservation, spelling, decimals),
    guests: hotel.guestsOf(reservation).map(guestJson),
    stays: reservation.rooms.map((room) => {
      const { board, ...rest } = roomJson(room);
      return { ...rest, board_type: boardCode(room.board) };
    }),
    charges: reservation.charges.map((charge) => chargeJson(charge, decimals)),
  };
}

/** The fields of section 2.6 of the interface description, and no other. */
function thinEventData(hotel: Hotel, reservation: HotelReservation, spelling: Spelling): JsonObject {
  return {
    reservation_id: reservation.id,
    confirmation_number: reservation.confirmationNumber,
    check_in: reservation.checkIn,
    check_out: reservation.checkOut,
    status: spellStatus(reservation.status, spelling),
    guests: hotel.guestsOf(reservation).map(thinGuest),
    stays: reservation.rooms.map((room) => ({
      room_type: room.roomType,
      board_type: boardCode(room.board),
      adults: room.adults,
      children: room.children,
    })),
  };
}

function thinGuest({ firstName, lastName, email, phone }: HotelGuest): JsonObject {
  return known({ first_name: firstName, last_name: lastName, email, phone });
}

export function guestEventData(
  guest: HotelGuest,
  reservation: HotelReservation | undefined,
  detail: Detail = 'full',
): JsonObject {
  return {
    ...(detail === 'thin' ? thinGuest(guest) : guestJson(guest)),
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

export function guestJson(guest: HotelGuest): JsonObject {
  return known({
    guest_id: guest.guestId,
    first_name: guest.firstName,
    last_name: guest.lastName,
    email: guest.email,
    phone: guest.phone,
    date_of_birth: guest.dateOfBirth,
    nationality: guest.nationality,
    document_type: guest.documentType,
    document_number: guest.documentNumber,
    marketing_consent: guest.marketingConsent,
  });
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

const boardCodes: ReadonlyMap<string, string> = new Map<string, string>(
  Object.entries({
    room_only: 'RO',
    bed_and_breakfast: 'BB',
    half_board: 'HB',
    full_board: 'FB',
    all_inclusive: 'AI',
  }),
);

function boardCode(board: string): string {
  return boardCodes.get(board) ?? board;
}

/** Dividing two integers prints the exact decimal, up to fifteen digits. */
function units(minor: number, decimals: number): number {
  return minor / 10 ** decimals;
}

function known(fields: { [key: string]: string | boolean | undefined }): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}
