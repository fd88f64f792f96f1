import type { JsonObject } from '../../../src/terms.ts';

interface Expectation {
  readonly request: JsonObject;
  readonly pagination: JsonObject;
  readonly root: string;
  readonly single?: string;
  readonly baseUrl: string;
  readonly auth: JsonObject;
  readonly map: JsonObject;
  readonly status: JsonObject;
}

/**
 * Four descriptions that were written before the rules were adapted to them. At the first try, request, auth, paging and root path were
 * right in the first two; the Postman collection lacked window and auth, the YAML the date format and the single request.
 */
export const expected: Readonly<Record<string, Expectation>> = {
  'swagger-alpenblick.json': {
    request: {
      method: 'GET',
      path: '/bookings',
      query: { arrival_from: '{window.from}', arrival_to: '{window.to}', expand: 'all' },
    },
    pagination: {
      type: 'page',
      page: 'query.page',
      limit: 'query.per_page',
      page_size: 100,
      total: 'meta.total_count',
    },
    root: 'bookings',
    single: '/bookings/{id}',
    baseUrl: 'https://api.alpenblick.example/pms/v1',
    auth: { type: 'basic' },
    map: {
      id: 'booking_no',
      check_in: 'arrival',
      check_out: 'departure',
      booking_date: 'created_at',
      status: 'state',
      channel: 'sales_channel',
      total_amount: 'total.gross',
      currency: 'total.currency',
      'guests.from': 'guests',
      'guests.fields.first_name': 'given_name',
      'guests.fields.last_name': 'family_name',
      'guests.fields.phone': 'mobile',
      'guests.fields.date_of_birth': 'born_on',
      'guests.fields.marketing_consent': 'newsletter',
      'rooms.from': 'rooms',
      'rooms.fields.room_type': 'category',
      'rooms.fields.start_date': 'from',
      'charges.from': 'services',
      'charges.fields.code': 'article_code',
      'charges.fields.amount': 'total',
    },
    status: { confirmed: ['reserved'], checked_in: ['in_house'], checked_out: ['departed'] },
  },
  'openapi31-lagoon.json': {
    request: {
      method: 'GET',
      path: '/reservations',
      query: { 'checkIn[gte]': '{window.from}', 'checkIn[lte]': '{window.to}', propertyId: '{brand_id}' },
    },
    pagination: {
      type: 'cursor',
      next: 'pagination.nextCursor',
      more: 'pagination.hasMore',
      cursor: 'query.cursor',
      limit: 'query.limit',
      page_size: 50,
    },
    root: 'data',
    single: '/reservations/{id}',
    baseUrl: 'https://api.lagoon.example/v3',
    auth: {
      type: 'oauth2',
      grant: 'client_credentials',
      token_url: 'https://id.lagoon.example/oauth/token',
      scopes: ['reservations:read'],
    },
    map: {
      id: 'id',
      confirmation_number: 'confirmationCode',
      check_in: 'checkIn',
      booking_date: 'createdAt',
      channel: 'channel.code',
      total_amount: 'totalPrice.amount',
      currency: 'totalPrice.currency',
      'guests.0.from': 'primaryGuest',
      'guests.1.from': 'companions',
      'guests.0.fields.nationality': 'countryOfCitizenship',
      'rooms.fields.room_type': 'unit.typeName',
      'rooms.fields.rate_code': 'ratePlanCode',
      'rooms.fields.adults': 'adultCount',
      'rooms.fields.children': 'childCount',
    },
    status: { checked_in: ['IN_HOUSE'], other: ['INQUIRY'] },
  },
  'postman-duinhotel.json': {
    request: {
      method: 'POST',
      path: '/api/reservations/search',
      body: {
        arrivalFrom: '{window.from:DD/MM/YYYY}',
        arrivalTo: '{window.to:DD/MM/YYYY}',
        hotelCode: '{brand_id}',
      },
    },
    pagination: { type: 'offset', offset: 'body.start', limit: 'body.limit', page_size: 100, total: 'TotalRows' },
    root: 'Rows',
    baseUrl: 'https://connect.duinhotel.example',
    auth: {
      type: 'login',
      path: '/api/session/login',
      token: 'sessionToken',
      expires_in: 'expiresIn',
      header: 'X-Session-Token',
      value: '{token}',
    },
    map: {
      id: 'ResNo',
      'check_in.path': 'ArrivalDate',
      'check_in.date': 'DD/MM/YYYY',
      'check_out.path': 'DepartureDate',
      'booking_date.path': 'BookedOn',
      status: 'ResStatus',
      channel: 'Agent',
      total_amount: 'TotalAmount',
      currency: 'CurrencyCode',
      'guests.fields.phone': 'GuestMobile',
      'rooms.fields.adults': 'NoOfAdults',
    },
    status: { confirmed: ['CONF'], cancelled: ['CXL'] },
  },
  'openapi30-fjord.yaml': {
    request: {
      method: 'GET',
      path: '/hotels/{brand_id}/stays',
      query: { departureFrom: '{window.from:DD.MM.YYYY}', departureTo: '{window.to:DD.MM.YYYY}' },
    },
    pagination: {
      type: 'page',
      page: 'query.page',
      limit: 'query.size',
      page_size: 150,
      first: 0,
      total: 'page.totalElements',
    },
    root: '_embedded.stays',
    single: '/hotels/{brand_id}/stays/{id}',
    baseUrl: 'https://fjord.example/rest',
    auth: { type: 'api_key', query: 'apiKey' },
    map: {
      id: 'stayId',
      confirmation_number: 'bookingReference',
      'check_in.path': 'arrivalDate',
      'check_in.date': 'DD.MM.YYYY',
      'check_out.date': 'DD.MM.YYYY',
      'booking_date.date': 'DD.MM.YYYY',
      status: 'stayStatus',
      source: 'source',
      total_amount: 'amount',
      'guests.from': 'guest',
      'guests.fields.guest_id': 'guestNumber',
      'guests.fields.first_name': 'forename',
      'guests.fields.date_of_birth.date': 'DD.MM.YYYY',
      'rooms.fields.room_type': 'roomCategory',
      'rooms.fields.board': 'mealPlan',
      'rooms.fields.rate_code': 'rateName',
      'charges.from': 'extras',
      'charges.fields.quantity': 'count',
    },
    status: { confirmed: ['EXPECTED'], checked_in: ['ARRIVED'], checked_out: ['DEPARTED'] },
  },
};
