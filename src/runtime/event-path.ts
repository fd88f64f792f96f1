import type { Connector } from '../documents/connector.ts';
import type { EventPath, GuestRead, ReadGuest } from '../intake/push/event-path.ts';
import { textAt } from '../intake/push/place.ts';
import { normalizeGuest } from '../normalize/normalize.ts';
import { idOf } from '../pipeline/id-prefix.ts';
import { isObject, type Json, type JsonObject } from '../terms.ts';
import type { ActiveIntegration } from './active-integration.ts';

type ThinId = NonNullable<NonNullable<Connector['push']>['thin']>['id'];

/** The path of a brand's events. */
export function eventPathOf(integration: ActiveIntegration, othersAt: EventPath['othersAt'] = () => []): EventPath {
  const { path, connector, body } = integration;
  const thin = connector.body.push?.thin;
  return {
    ...(thin && { thinId: (data: Json) => thinId(thin.id, data) }),
    ...(thin?.guest && { thinGuestId: (data: Json) => textAt(data, [thin.guest ?? []].flat()) }),
    idOf: (id) => idOf(id, body.id_prefix),
    record: (data) => path.pushShaper.single(data),
    hydratedRecord: (found) => path.singleShaper.single(found),
    prepare: path.prepare,
    amend: path.amend,
    address: (text) => {
      const { email, email_proxy: isAlias } = normalizeGuest({ email: text }, {}).guest;
      return isAlias ? undefined : email;
    },
    guest: (data, isFetched) =>
      isFetched ? readAll([readGuest(integration, data, true)]) : readGuests(integration, data),
    profile: path.profile,
    othersAt,
    today: (at) =>
      Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(body.timezone).toPlainDate().toString(),
  };
}

/** The id that a thin event names; undefined if it names none. */
export function thinId(from: ThinId, data: Json): string | undefined {
  if (typeof from === 'string' || Array.isArray(from)) return textAt(data, [from].flat());
  const parts = from.join.map((path) => textAt(data, [path]));
  return parts.includes(undefined) ? undefined : parts.join(from.with);
}

/** The guest in `data` or `data.guest`, or every guest of a whole reservation in `data` or `data.reservation`. */
function readGuests(integration: ActiveIntegration, data: Json): GuestRead {
  const reservation = reservationIn(data);
  if (reservation === undefined) return readAll([readGuest(integration, data)]);
  const shaped = integration.path.pushShaper.single(reservation);
  const key = shaped.kind === 'ok' ? shaped.record.key : '';
  const named = key === '' ? {} : { reservation_id: key };
  return readAll(reservation.guests.map((guest) => readGuest(integration, { ...guest, ...named })));
}

function reservationIn(data: Json): (JsonObject & { guests: JsonObject[] }) | undefined {
  const at = isObject(data) && isObject(data.reservation) ? data.reservation : data;
  if (!isObject(at) || !Array.isArray(at.guests) || at.guests.length === 0) return undefined;
  return at.guests.every(isObject) ? (at as JsonObject & { guests: JsonObject[] }) : undefined;
}

type One = { readonly kind: 'ok'; readonly guest: ReadGuest } | (GuestRead & { kind: 'invalid' });

function readAll(read: readonly One[]): GuestRead {
  const invalid = read.find((one) => one.kind === 'invalid');
  if (invalid) return invalid;
  return { kind: 'ok', updates: read.flatMap((one) => (one.kind === 'ok' ? [one.guest] : [])) };
}

function readGuest({ path }: ActiveIntegration, data: Json, isFetched = false): One {
  const read = path.guest(data, isFetched);
  return read.kind === 'invalid' ? read : { kind: 'ok', guest: read };
}
