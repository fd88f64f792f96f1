import type { Lane, Lanes } from '../../src/core/deliver/ports.ts';

/** Lanes given as a list, in place of those that documents make. */
export function listedLanes(lanes: readonly Lane[]): Lanes {
  const destinations = new Map(lanes.map(({ destination }) => [destination.name, destination]));
  return {
    brands: new Set(lanes.map(({ integration }) => integration)),
    destinations: [...destinations.values()],
    of: (brand) => lanes.filter(({ integration }) => integration === brand),
  };
}
