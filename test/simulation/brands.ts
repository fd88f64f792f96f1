import { activate } from '../../src/core/brand/active.ts';
import type { Brand } from '../../src/core/brand/brand.ts';
import type { StoredDocument } from '../../src/core/documents/kinds.ts';
import { pullOf } from '../../src/core/documents/pull.ts';
import type { PullPlan } from '../../src/core/intake/pull/ports.ts';
import type { Json } from '../../src/terms.ts';

/** Two brands of one PMS, which both pushes and lists, and two destinations, as documents describe them. */
export const brandNames = ['lisbon', 'porto'] as const;
export const destinationNames = ['crm', 'lake'] as const;
/** A larger hotel, whose lists have an accident in some seeds. */
export const accidentBrand = 'faro';
export const allBrands = [...brandNames, accidentBrand] as const;
export const pageSizeOf = (name: string): number => (name === accidentBrand ? 40 : 2);

const body = (kind: StoredDocument['kind'], name: string, content: Json): StoredDocument => ({
  kind,
  name,
  version: 1,
  body: content,
  hash: '',
});

const active = activate([
  ...allBrands.map((name) =>
    body('connector', `pms-${name}`, {
      connector: `pms-${name}`,
      shape: { root_path: 'reservations' },
      pull: {
        request: { path: '/reservations', query: { from: '{window.from}', to: '{window.to}' } },
        pagination: { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: pageSizeOf(name) },
      },
      push: {},
    }),
  ),
  ...destinationNames.map((name) =>
    body('destination', name, { destination: name, type: 'http', url: `https://${name}.example/in` }),
  ),
  ...allBrands.map((name) =>
    body('integration', name, {
      integration: name,
      connector: `pms-${name}`,
      brand_id: name.toUpperCase(),
      timezone: 'UTC',
      country: 'PT',
      deliver: [...destinationNames],
      push: { enabled: true, rate: { requests: 1000, per: '1s' } },
      pull: {
        base_url: `https://${name}.example`,
        auth: { type: 'none' },
        lag: '0s',
        syncs: { pre_stay: { every: '30m', range: ['+1d', '+7d'] } },
        timeouts: { idle: '2s', total: '4s' },
      },
    }),
  ),
]);

export function brand(name: string): Brand {
  const found = active.integrations.get(name);
  if (!found) throw new Error(JSON.stringify(active.broken));
  return found;
}

const plans = new Map(
  allBrands.map((name) => {
    const own = brand(name);
    const { body: integration, connector } = own;
    if (connector.body.pull === undefined || integration.pull === undefined) throw new Error('no pull section');
    const settings = pullOf({
      integration: own.integration,
      brandId: integration.brand_id,
      timezone: integration.timezone,
      connector: connector.body.pull,
      own: integration.pull,
      maxBytes: 1_000_000,
      adapter: undefined,
    });
    const plan: PullPlan = { brand: own, settings };
    return [name as string, plan];
  }),
);

export function pullPlan(name: string): PullPlan {
  const plan = plans.get(name);
  if (!plan) throw new Error(`no brand ${name}`);
  return plan;
}
