import { type Bodies, schemas } from '../documents/kinds.ts';

/** The settings of a brand that affect mapping, for a sample of a brand that does not exist yet. */
export interface Property {
  readonly timezone?: string | undefined;
  readonly country?: string | undefined;
}

/** An integration with only the settings that mapping needs, or a message about an invalid property. */
export function sampleIntegration(connector: string, { timezone, country }: Property): Bodies['integration'] | string {
  const parsed = schemas.integration.safeParse({
    integration: 'sample',
    connector,
    brand_id: 'sample',
    timezone: timezone ?? 'UTC',
    ...(country !== undefined && { country }),
  });
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const name = String(first?.path[0]);
  return `${name} ${JSON.stringify(name === 'country' ? country : timezone)} ${first?.message}.`;
}
