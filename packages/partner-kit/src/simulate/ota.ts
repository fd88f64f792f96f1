import type { HotelReservation } from './booking.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { Hotel } from './hotel.ts';

const soapPath = '/soap';
const envelope = 'http://schemas.xmlsoap.org/soap/envelope/';
const xmlType = { 'content-type': 'text/xml; charset=utf-8' };

/** `POST /soap`: an OTA_ReadRQ inside a SOAP envelope, answered with an OTA_ResRetrieveRS. The range filters by arrival, both days included. */
export class OtaApi {
  readonly #hotel: Hotel;

  constructor(hotel: Hotel) {
    this.#hotel = hotel;
  }

  /** Undefined for other paths. */
  answer({ method, path, headers, bodyText }: Exchange): Answer | undefined {
    if (path !== soapPath) return undefined;
    if (method !== 'POST') return fault('Use POST.');
    if (headers['content-type']?.startsWith('text/xml') !== true) return fault('The content type must be text/xml.');
    const criteria = /<OTA_ReadRQ\b[\s\S]*?<SelectionCriteria\b([^>]*)>/.exec(bodyText)?.[1];
    const [from, to] = ['Start', 'End'].map((name) => attribute(criteria ?? '', name));
    if (from === undefined || to === undefined)
      return fault('An OTA_ReadRQ needs SelectionCriteria with Start and End.');
    const hotelCode = attribute(/<HotelReadRequest\b([^>]*)>/.exec(bodyText)?.[1] ?? '', 'HotelCode');
    if (!this.#hotel.properties.some(({ id }) => id === hotelCode)) return fault('HotelCode is unknown.');
    const found = this.#hotel.list(
      ({ propertyId, checkIn }) => propertyId === hotelCode && checkIn >= from && checkIn <= to,
    );
    return answered(
      200,
      `<ota:OTA_ResRetrieveRS xmlns:ota="http://www.opentravel.org/OTA/2003/05" Version="3.0"><ota:Success/><ota:ReservationsList>${found
        .map((one) => this.#reservation(one))
        .join('')}</ota:ReservationsList></ota:OTA_ResRetrieveRS>`,
    );
  }

  #reservation(one: HotelReservation): string {
    const guests = this.#hotel
      .guestsOf(one)
      .map(
        ({ firstName, lastName, email, phone }) =>
          `<ota:ResGuest><ota:PersonName><ota:GivenName>${text(firstName)}</ota:GivenName><ota:Surname>${text(lastName)}</ota:Surname></ota:PersonName><ota:Email>${text(email)}</ota:Email><ota:Telephone PhoneNumber="${text(phone)}"/></ota:ResGuest>`,
      );
    return `<ota:HotelReservation ResStatus="${one.status}"><ota:UniqueID Type="14" ID="${text(one.id)}"/><ota:TimeSpan Start="${one.checkIn}" End="${one.checkOut}"/><ota:ResGuests>${guests.join('')}</ota:ResGuests></ota:HotelReservation>`;
  }
}

function attribute(tag: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
}

const fault = (message: string): Answer =>
  answered(500, `<soap:Fault><faultcode>soap:Client</faultcode><faultstring>${message}</faultstring></soap:Fault>`);

function answered(status: number, content: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="${envelope}"><soap:Body>${content}</soap:Body></soap:Envelope>`;
  return { status, headers: xmlType, body };
}

function text(value: string | undefined): string {
  return (value ?? '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
