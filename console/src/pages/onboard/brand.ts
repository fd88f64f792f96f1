/** What a person tells of a brand, and the document that it becomes. */
export interface Brand {
  readonly name: string;
  readonly brandId: string;
  readonly connector: string;
  readonly timezone: string;
  readonly country: string;
  readonly pulls: boolean;
  readonly baseUrl: string;
  readonly auth: 'bearer' | 'api_key' | 'basic' | 'none';
  readonly header: string;
  readonly username: string;
  /** Stored sealed; the document only refers to it. */
  readonly secret: string;
  readonly pushes: boolean;
  readonly deliver: readonly string[];
}

export const emptyBrand: Brand = {
  name: '',
  brandId: '',
  connector: '',
  timezone: '',
  country: '',
  pulls: true,
  baseUrl: '',
  auth: 'bearer',
  header: 'X-API-Key',
  username: '',
  secret: '',
  pushes: true,
  deliver: [],
};

export function documentOf(brand: Brand): string {
  const secret = `"\${secret:${brand.name}-pull}"`;
  const auth = {
    bearer: `{ type: bearer, token: ${secret} }`,
    api_key: `{ type: api_key, header: ${brand.header}, key: ${secret} }`,
    basic: `{ type: basic, username: ${JSON.stringify(brand.username)}, password: ${secret} }`,
    none: '{ type: none }',
  }[brand.auth];
  const pull = `pull:
  base_url: ${brand.baseUrl}
  auth: ${auth}
  syncs:
    pre_stay: { every: 30m, range: [+1d, +7d] }
    stay: { every: 15m, range: [-6d, 0d] }
    post_stay: { every: 60m, range: [-7d, -1d] }
`;
  return `integration: ${brand.name}
connector: ${brand.connector}
brand_id: ${JSON.stringify(brand.brandId)}
timezone: ${brand.timezone}
${brand.country === '' ? '' : `country: ${brand.country}\n`}${brand.pulls ? pull : ''}push: { enabled: ${brand.pushes} }
deliver: [${brand.deliver.join(', ')}]
`;
}
