import type { Versioned } from '../brand/brand.ts';
import { InnboundError } from '../errors.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** The destination in force with this name. */
export function namedDestination(runtime: Runtime, name: string): Versioned<'destination'> {
  const { destinations } = runtime.active();
  const destination = destinations.get(name);
  if (destination !== undefined) return destination;
  const known = [...destinations.keys()].join(', ') || 'none';
  throw new InnboundError('documents.unknown_name', `There is no destination ${name}; known destinations: ${known}.`);
}
