import type { BrandFacts, DestinationServices } from './destination.ts';
import type { Delivery } from './message.ts';

/** Writes what is known about the brands of a batch, if it is not what was written last. The answer is called when it is durable. */
export function brandWriter(brandOf: DestinationServices['brandOf']) {
  const known = new Map<string, string>();
  return async (batch: readonly Delivery[], write: (integration: string, facts: BrandFacts) => Promise<unknown>) => {
    const written = new Map<string, string>();
    for (const integration of [...new Set(batch.map(({ message }) => message.integration))].toSorted()) {
      const facts = await brandOf(integration);
      const text = JSON.stringify(facts);
      if (facts === undefined || known.get(integration) === text) continue;
      await write(integration, facts);
      written.set(integration, text);
    }
    return () => {
      for (const [integration, text] of written) known.set(integration, text);
    };
  };
}
