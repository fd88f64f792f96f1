import { type AuthForm, scalar, type WrittenAuth } from './auth.ts';

/** The form of a new brand, and the document made from it. */
export interface Brand {
  /** Where the connector comes from: an existing one, or one made from an API description or a sample. */
  readonly way: 'connector' | 'description' | 'sample';
  readonly newConnector: string;
  readonly connectorText: string;
  /** What was typed to find the system, and the integration that comes with its connector. */
  readonly search: string;
  readonly integration: string;
  readonly name: string;
  readonly brandId: string;
  readonly connector: string;
  readonly timezone: string;
  readonly country: string;
  readonly pulls: boolean;
  readonly baseUrl: string;
  /** The title of an authentication form, and the values of its fields. */
  readonly auth: string;
  readonly authFields: Readonly<Record<string, string>>;
  readonly pushes: boolean;
  readonly deliver: readonly string[];
  /** Nothing is sent until somebody has seen what would be sent. */
  readonly preview: boolean;
}

export const emptyBrand: Brand = {
  way: 'connector',
  newConnector: '',
  connectorText: '',
  search: '',
  integration: '',
  name: '',
  brandId: '',
  connector: '',
  timezone: '',
  country: '',
  pulls: true,
  baseUrl: '',
  auth: 'bearer',
  authFields: {},
  pushes: true,
  deliver: [],
  preview: true,
};

/** Pulls stay paused until the connection was tested. */
const pausedLine = 'paused: true\n';

const stays = `    pre_stay: { every: 60m, range: [+1d, +90d] }
    stay: { every: 15m, range: [-6d, 0d] }
    post_stay: { every: 60m, range: [-7d, -1d] }
`;
const changes = '    stay: { every: 15m }\n';

/** A list by change is the same for every sync, so one is enough. */
const listsChanges = (connector: string): boolean => connector.includes('{since') && !connector.includes('{window.');

export function textOf(brand: Brand, auth: WrittenAuth | undefined): string {
  const authLines = (auth?.lines ?? []).map((line) => `    ${line}`).join('\n');
  const pull = `pull:
  base_url: ${scalar(brand.baseUrl)}
  auth:
${authLines}
  syncs:
${listsChanges(brand.connectorText) ? changes : stays}`;
  const deliver = brand.deliver.map(scalar).join(', ');
  return `integration: ${scalar(brand.name)}
connector: ${scalar(brand.connector)}
brand_id: ${JSON.stringify(brand.brandId)}
timezone: ${scalar(brand.timezone)}
${brand.country === '' ? '' : `country: ${scalar(brand.country)}\n`}${brand.pulls ? pausedLine + pull : ''}push: { enabled: ${brand.pushes} }
deliver: [${deliver}]
${brand.preview && brand.deliver.length > 0 ? `preview: [${deliver}]\n` : ''}`;
}

/** The brand without values that must not be kept in the browser. Only the forms show which those are. */
export function withoutSecrets(brand: Brand, forms: readonly AuthForm[]): Brand {
  if (brand.integration !== '') return { ...brand, authFields: {} };
  const plain = forms.find(({ title }) => title === brand.auth)?.fields.filter(({ secret }) => !secret) ?? [];
  const kept = Object.entries(brand.authFields).filter(([name]) => plain.some((field) => field.name === name));
  // A password or a key may be in the URL.
  const baseUrl = /[@?]/.test(brand.baseUrl) ? '' : brand.baseUrl;
  return { ...brand, baseUrl, authFields: Object.fromEntries(kept) };
}
