import { Environment } from '@marcbachmann/cel-js';
import { celTypes, type FieldKind, guestFields, type ListName, listNames, lists, reservationFields } from './fields.ts';
import { registerFunctions } from './functions.ts';
import { limits } from './limits.ts';
import { ChargeView, ExtraView, GuestView, ReservationView, RoomView } from './views.ts';

/** The subject of an expression: a reservation, an item of one of its lists, or a guest on its own. */
export type ScopeName = 'reservation' | ListName | 'guest';

const constants = ['integration', 'brand_id', 'country'];

function typed(fields: Readonly<Record<string, FieldKind>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, celTypes[kind]]));
}

const guestTypes: Record<string, string> = { ...typed(guestFields), extra: 'Extra' };
const reservationTypes: Record<string, string> = {
  ...typed(reservationFields),
  ...Object.fromEntries(listNames.map((name) => [name, `list<${lists[name].type}>`])),
  extra: 'Extra',
};

const base = new Environment({
  limits: {
    maxAstNodes: limits.nodes,
    maxDepth: limits.depth,
    maxListElements: 200,
    maxMapEntries: 100,
    maxCallArguments: 8,
  },
});
base.registerType('Extra', { ctor: ExtraView });
base.registerType('Guest', { ctor: GuestView, fields: guestTypes });
base.registerType('Room', { ctor: RoomView, fields: typed(lists.rooms.fields) });
base.registerType('Charge', { ctor: ChargeView, fields: typed(lists.charges.fields) });
base.registerType('Reservation', { ctor: ReservationView, fields: reservationTypes });
registerFunctions(base);
for (const name of constants) base.registerVariable(name, 'string');

function over(types: Record<string, string>): Environment {
  const environment = base.clone();
  for (const [name, type] of Object.entries(types)) environment.registerVariable(name, type);
  return environment;
}

const reservation = over({ ...reservationTypes, reservation: 'Reservation' });

const overList = (list: ListName): Environment =>
  reservation.clone().registerVariable(lists[list].variable, lists[list].type);

const ofReservation = [...Object.keys(reservationTypes), 'reservation', ...constants];
const ofItem = (list: ListName): readonly string[] => [lists[list].variable, ...ofReservation];

/** The variables of an expression. */
export const variables: Readonly<Record<ScopeName, readonly string[]>> = {
  reservation: ofReservation,
  guests: ofItem('guests'),
  rooms: ofItem('rooms'),
  charges: ofItem('charges'),
  guest: [...Object.keys(guestTypes), 'guest', ...constants],
};

/** The fields of each type that has some. */
export const fieldsOf: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    Guest: Object.keys(guestTypes),
    Room: Object.keys(lists.rooms.fields),
    Charge: Object.keys(lists.charges.fields),
    Reservation: Object.keys(reservationTypes),
  }),
);

export const environments: Readonly<Record<ScopeName, Environment>> = {
  reservation,
  guests: overList('guests'),
  rooms: overList('rooms'),
  charges: overList('charges'),
  guest: over({ ...guestTypes, guest: 'Guest' }),
};
