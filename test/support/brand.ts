import type { Brand } from '../../src/core/brand/brand.ts';
import { compilePlan } from '../../src/core/brand/compile.ts';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { schemas } from '../../src/core/documents/kinds.ts';
import { contentOf } from '../../src/core/reconcile/content.ts';
import type { ErasurePort } from '../../src/core/reconcile/erasure-port.ts';
import type { Receipt, Statement } from '../../src/core/reconcile/forms.ts';
import type { IntegrationName } from '../../src/terms.ts';

/** A brand with a connector that reads our own fields, without a guard. */
export function testBrand(
  integration: string,
  destinations: Partial<Brand['destinations']> = {},
  more: Partial<Brand> = {},
): Brand {
  const connector = schemas.connector.parse({ connector: 'plain' });
  const body = schemas.integration.parse({ integration, connector: 'plain', brand_id: 'X', timezone: 'UTC' });
  const compiled = compilePlan(connector, body);
  if (compiled.kind === 'invalid') throw new Error(JSON.stringify(compiled.problems));
  return {
    ...compiled.plan,
    integration: integration as IntegrationName,
    integrationVersion: 1,
    connectorVersion: 1,
    body,
    connector: { name: 'plain', version: 1, body: connector },
    spellings: undefined,
    spellingsHash: undefined,
    destinations: { reservation: [], guest: [], ...destinations },
    lagMs: 0,
    ...more,
  };
}

/** A statement that is a whole record. */
export function said(record: Reservation, arrival: Partial<Receipt> = {}): Statement {
  const { mode = 'pull' } = arrival;
  return {
    type: 'reservation',
    id: record.id,
    receipt: { mode, effectiveAt: 1000, cause: 'run', causeId: 'run_1', ...arrival },
    source: mode,
    scope: { fields: mode === 'pull' ? 'full' : 'partial', lists: 'full' },
    content: contentOf(record),
    record,
    raw: { key: record.id, value: { any: record.id } },
    notes: [],
  };
}

/** Its path is compiled on demand, so its parts are copied by name. */
export function withErasure(brand: Brand, erasure: ErasurePort): Brand {
  const { integration, integrationVersion, connectorVersion, body } = brand;
  const { shapers, scopes, rules, region, idPrefix, partialRows, lagMs } = brand;
  const path = { shapers, scopes, rules, region, idPrefix, partialRows, lagMs };
  return { ...brand, ...path, integration, integrationVersion, connectorVersion, body, erasure };
}
