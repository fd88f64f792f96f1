export const pageSize = 200;

const pagings = {
  cursor: 'cursor, next: next_cursor, cursor: query.cursor',
  offset: 'offset, offset: query.offset',
} as const;

export type Paging = keyof typeof pagings;

/** A connector for the list of `partner.ts`. */
export const pullingConnectorText = (name: string, paging: Paging = 'cursor'): string => `connector: ${name}
pull:
  request: { path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  pagination: { type: ${pagings[paging]}, limit: query.limit, page_size: ${pageSize} }
shape: { root_path: reservations }
`;

export interface Pulling {
  readonly name: string;
  readonly connector: string;
  readonly brandId: string;
  readonly partnerUrl: string;
  readonly destination: string;
}

export const pullingText = ({ name, connector, brandId, partnerUrl, destination }: Pulling): string =>
  `integration: ${name}
connector: ${connector}
brand_id: ${brandId}
timezone: Europe/Lisbon
country: PT
pull: { base_url: "${partnerUrl}", auth: { type: none } }
deliver: [${destination}]
`;
