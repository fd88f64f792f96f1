import type { LocalDate } from '../json.ts';
import { addDays, daysBetween, type Property } from './property.ts';
import type { Random } from './random.ts';

export const hotelStatuses = ['confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show'] as const;
export type HotelStatus = (typeof hotelStatuses)[number];

export interface HotelRoom {
  readonly roomNo: string;
  readonly roomType: string;
  readonly board: string;
  readonly rateCode: string;
  readonly startDate: LocalDate;
  readonly endDate: LocalDate;
  readonly adults: number;
  readonly children: number;
}

export interface HotelCharge {
  readonly lineNo: number;
  readonly code: string;
  readonly description: string;
  /** The whole line, not one unit. */
  readonly amountMinor: number;
  readonly quantity: number;
}

/** A reservation in the hotel's own system. Immutable: a change replaces it under the same id. */
export interface HotelReservation {
  readonly id: string;
  readonly confirmationNumber: string;
  readonly propertyId: string;
  readonly checkIn: LocalDate;
  readonly checkOut: LocalDate;
  readonly bookingDate: LocalDate;
  readonly status: HotelStatus;
  readonly channel: string;
  readonly source: string;
  readonly currency: string;
  readonly guestIds: readonly string[];
  readonly rooms: readonly HotelRoom[];
  readonly charges: readonly HotelCharge[];
}

/** From simplest to best: an upgrade moves one step to the right. */
export const roomTypes = ['Standard Twin', 'Double', 'Superior Double', 'Sea View', 'Junior Suite', 'Suite'] as const;
const boards = ['room_only', 'bed_and_breakfast', 'half_board', 'full_board', 'all_inclusive'] as const;
const rates = ['BAR', 'NRF', 'CORP', 'AAA10', 'LONGSTAY', 'PKG-SPA'] as const;
type Weighted = readonly [weight: number, channelAndSource: readonly [string, string]];
type Extra = readonly [code: string, description: string, shareOfANight: number];
const channels: readonly [Weighted, ...Weighted[]] = [
  [30, ['BDC', 'OTA']],
  [16, ['EXP', 'OTA']],
  [24, ['WEB', 'direct']],
  [12, ['PHONE', 'direct']],
  [8, ['WALKIN', 'direct']],
  [6, ['GDS', 'agency']],
  [4, ['TOUROP', 'wholesale']],
];
const extras: readonly [Extra, ...Extra[]] = [
  ['BRK', 'Breakfast', 0.12],
  ['SPA', 'Spa treatment', 0.5],
  ['PARK', 'Garage, per night', 0.15],
  ['MINI', 'Minibar', 0.08],
  ['TRF', 'Airport transfer', 0.35],
];

interface BookingRequest
  extends Pick<HotelReservation, 'id' | 'confirmationNumber' | 'checkIn' | 'bookingDate' | 'guestIds'> {
  readonly property: Property;
  readonly nights: number;
}

export function inventBooking(random: Random, request: BookingRequest): HotelReservation {
  const { property, nights, ...known } = request;
  const { checkIn, guestIds } = known;
  const checkOut = addDays(checkIn, nights);
  const [channel, source] = random.weighted(channels);
  const board = random.pick(boards);
  const rateCode = random.pick(rates);
  const roomCount = guestIds.length > 2 || random.chance(0.06) ? 2 : 1;
  const rooms: HotelRoom[] = [];
  for (let i = 0; i < roomCount; i += 1) {
    rooms.push({
      roomNo: String(random.int(1, 7) * 100 + random.int(1, 32)),
      roomType: random.pick(roomTypes),
      board,
      rateCode,
      startDate: checkIn,
      endDate: checkOut,
      adults: Math.max(1, Math.ceil(guestIds.length / roomCount)),
      children: random.chance(0.2) ? random.int(1, 2) : 0,
    });
  }
  const booked: HotelReservation = {
    ...known,
    propertyId: property.id,
    checkOut,
    status: 'confirmed',
    channel,
    source,
    currency: property.currency,
    rooms,
    charges: nightCharges(property, rooms),
  };
  return random.chance(0.45) ? addExtra(random, property, booked) : booked;
}

/** One charge per room: all its nights at the price of its type. */
function nightCharges(property: Property, rooms: readonly HotelRoom[]): HotelCharge[] {
  return rooms.map((room, index) => {
    const step = Math.max(0, roomTypes.indexOf(room.roomType as (typeof roomTypes)[number]));
    const rate = property.night * (1 + step * 0.22) * (1 + 0.1 * boards.indexOf(room.board as (typeof boards)[number]));
    const nights = Math.max(1, daysBetween(room.startDate, room.endDate));
    return {
      lineNo: index + 1,
      code: 'ROOM',
      description: `${room.roomType}, ${nights} ${nights === 1 ? 'night' : 'nights'}`,
      amountMinor: money(property, rate) * nights,
      quantity: nights,
    };
  });
}

export function addExtra(random: Random, property: Property, reservation: HotelReservation): HotelReservation {
  const [code, description, share] = random.pick(extras);
  const lineNo = Math.max(0, ...reservation.charges.map((charge) => charge.lineNo)) + 1;
  const unitMinor = money(property, property.night * share * (0.8 + random.next() * 0.4));
  const quantity = random.int(1, 3);
  const charge: HotelCharge = { lineNo, code, description, amountMinor: unitMinor * quantity, quantity };
  return { ...reservation, charges: [...reservation.charges, charge] };
}

/** Moves the rooms of a reservation to new dates and recalculates the night charges; extras stay. */
export function moveStay(
  property: Property,
  from: HotelReservation,
  checkIn: LocalDate,
  checkOut: LocalDate,
): HotelReservation {
  return withRooms(
    property,
    { ...from, checkIn, checkOut },
    from.rooms.map((room) => ({ ...room, startDate: checkIn, endDate: checkOut })),
  );
}

export function withRooms(property: Property, from: HotelReservation, rooms: readonly HotelRoom[]): HotelReservation {
  const extrasKept = from.charges.filter((charge) => charge.code !== 'ROOM');
  return { ...from, rooms, charges: [...nightCharges(property, rooms), ...extrasKept] };
}

export function totalMinor(reservation: HotelReservation): number {
  return reservation.charges.reduce((sum, charge) => sum + charge.amountMinor, 0);
}

function money(property: Property, units: number): number {
  return Math.round(units * 10 ** property.decimals);
}
