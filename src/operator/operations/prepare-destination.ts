import { readyDestination } from '../../composition/deliver.ts';
import type { Prepared } from '../../core/deliver/destination.ts';
import { loadDestinationTypes } from '../../core/deliver/destinations.ts';
import { ownSettings } from '../../core/documents/destination.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { DestinationName, JsonObject } from '../../terms.ts';
import { namedDestination } from './resend.ts';

/** Creates what a destination needs at its vendor. Running it again creates nothing. */
export async function prepareDestination(
  runtime: Runtime,
  name: string,
  options: { readonly dryRun: boolean },
): Promise<Prepared> {
  const { body } = namedDestination(runtime, name);
  const types = await loadDestinationTypes();
  const about = { name: name as DestinationName, type: body.type, settings: ownSettings(body) as JsonObject };
  const { type, settings, services } = await readyDestination(runtime, types, about);
  if (type.prepare === undefined) {
    const message = `A destination of type ${body.type} needs no preparation at a vendor.`;
    throw new InnboundError('operate.invalid_input', message);
  }
  return type.prepare(settings, services, options);
}
