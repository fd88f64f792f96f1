import type { Fate, History, Settled, Version, Violation } from './history.ts';

/** Every accepted event has one fate; every version has one at every destination of its record; counters of runs add up. */
export function checkAccount({ statements, fates, versions, settled, runs, isQuiet }: History): Violation[] {
  const found: Violation[] = [];
  const violated = (message: string) => found.push({ rule: 'accepted_is_accounted_for', message });
  const byStatement = new Map<string, Fate>();
  for (const fate of fates) {
    if (byStatement.has(fate.statement)) violated(`${fate.statement} was counted twice`);
    byStatement.set(fate.statement, fate);
  }
  const stored = new Set(versions.map(nameOf));
  for (const { id, record, isAccepted, isEvent } of statements) {
    if (!isEvent) continue;
    const fate = byStatement.get(id);
    if (fate === undefined) {
      if (isAccepted) violated(`${id} was accepted and is lost`);
      continue;
    }
    if (fate.kind === 'pending' && isQuiet) violated(`${id} was accepted and is still pending`);
    if (fate.kind === 'version' && !stored.has(nameOf({ record, version: fate.version }))) {
      violated(`${id} became version ${fate.version} of ${record}, which is not stored`);
    }
  }
  found.push(...checkSettled(versions, settled, isQuiet));
  for (const { id, fetched, counted, listed = fetched } of runs) {
    if (fetched !== counted) violated(`${id} fetched ${fetched} and accounted for ${counted}`);
    if (fetched !== listed) violated(`${id} fetched ${fetched} of ${listed} rows`);
  }
  return found;
}

function checkSettled(versions: readonly Version[], settled: readonly Settled[], isQuiet: boolean): Violation[] {
  const found: Violation[] = [];
  const violated = (message: string) => found.push({ rule: 'accepted_is_accounted_for', message });
  const destinations = new Set(settled.map(({ destination }) => destination));
  const counted = new Map<string, Settled>();
  const held = new Set<string>();
  for (const one of settled) {
    const name = `${one.destination} ${nameOf(one)}`;
    if (counted.has(name)) violated(`${name} was settled twice`);
    counted.set(name, one);
    if (one.kind === 'dead') held.add(`${one.destination} ${one.record}`);
  }
  for (const version of versions) {
    for (const destination of destinations) {
      const name = `${destination} ${nameOf(version)}`;
      const one = counted.get(name);
      if (one === undefined) violated(`${name} is neither delivered, skipped, dead nor pending`);
      else if (one.kind === 'pending' && isQuiet && !held.has(`${destination} ${version.record}`)) {
        violated(`${name} is pending behind nothing`);
      }
    }
  }
  return found;
}

const nameOf = ({ record, version }: { readonly record: string; readonly version: number }): string =>
  `${record} v${version}`;
