import { configured, readyDestination } from '../../composition/deliver.ts';
import type { Prepared } from '../../core/deliver/destination.ts';
import { loadDestinationTypes } from '../../core/deliver/destinations.ts';
import { InnboundError } from '../../errors.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { namedDestination } from './resend.ts';

/** Creates what a destination needs at its vendor. Running it again creates nothing. */
export async function prepareDestination(
  runtime: Runtime,
  name: string,
  options: { readonly dryRun: boolean },
): Promise<Prepared> {
  const destination = namedDestination(runtime, name);
  const types = await loadDestinationTypes();
  const { type, settings, services } = await readyDestination(runtime, types, configured(destination));
  if (type.prepare === undefined) {
    const message = `A destination of type ${type.type} needs no preparation at a vendor.`;
    throw new InnboundError('operate.invalid_input', message);
  }
  return type.prepare(settings, services, options);
}
