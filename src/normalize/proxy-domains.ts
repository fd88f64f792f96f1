/**
 * Domains where booking sites create a forwarding address per booking. Such an address identifies a booking, not a person: it expires,
 * and must never match two guests. Subdomains are included.
 *
 * Relays chosen by the guest (Apple's privaterelay.appleid.com, Firefox Relay) are not listed: they are permanent.
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
