/**
 * Domains under which booking sites make up an address per booking and forward what is sent to it. Such an address stands for a
 * booking, not for a person: it expires, and two guests must never be taken for one because of it. A domain covers what is below it.
 *
 * Relays that a guest chose (Apple's privaterelay.appleid.com, Firefox Relay) are not here: they are the guest's own, and last.
 */
export const proxyDomains: readonly string[] = [
  // Booking.com
  'guest.booking.com',
  'property.booking.com',
  'message.booking.com',
  // Expedia, Hotels.com, Vrbo and their kin
  'expediapartnercentral.com',
  'guest.expedia.com',
  'guest.hotels.com',
  'messages.homeaway.com',
  'messages.vrbo.com',
  // Airbnb
  'guest.airbnb.com',
  'host.airbnb.com',
  'reply.airbnb.com',
  'stay.airbnb.com',
  // Agoda
  'agoda-messaging.com',
  'guest.agoda.com',
  'message.agoda.com',
  // Trip.com
  'guest.trip.com',
  'guest.ctrip.com',
  // Others
  'guest.klook.com',
  'guest.traveloka.com',
  'expmessaging.tripadvisor.com',
];
