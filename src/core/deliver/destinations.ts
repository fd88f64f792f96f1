import { readdir } from 'node:fs/promises';
import { moduleSuffix } from '../../kit/module-suffix.ts';
import type { DestinationType } from './destination.ts';

const folder = new URL('./destinations/', import.meta.url);

/** Each folder under destinations/ is a type; adding one changes nothing else. */
export async function loadDestinationTypes(): Promise<ReadonlyMap<string, DestinationType>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const types = await Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => {
        const module = (await import(new URL(`${name}/destination${moduleSuffix}`, folder).href)) as {
          destinationType: DestinationType;
        };
        return [name, module.destinationType] as const;
      }),
  );
  return new Map(types);
}
