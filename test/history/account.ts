import type { Fate, History, Settled, Statement, Version, Violation } from './history.ts';

/** Every accepted event has one outcome; every version has one at every destination of its record; counters of runs add up. */
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
  found.push(...checkOrigins(statements, fates, versions), ...checkSettled(versions, settled, isQuiet));
  for (const { id, fetched, counted, held = 0, listed = fetched } of runs) {
    if (fetched < counted || fetched > counted + held)
      violated(`${id} fetched ${fetched} and accounted for ${counted}`);
    if (fetched !== listed) violated(`${id} fetched ${fetched} of ${listed} rows`);
  }
  return found;
}

/** A version of a record that only events stated is the outcome of one of them, or of an erasure. */
function checkOrigins(
  statements: readonly Statement[],
  fates: readonly Fate[],
  versions: readonly Version[],
): Violation[] {
  const recordOf = new Map(statements.map(({ id, record }) => [id, record]));
  const listed = new Set(statements.filter(({ isEvent }) => !isEvent).map(({ record }) => record));
  const made = new Map<string, number>();
  for (const fate of fates) {
    if (fate.kind !== 'version') continue;
    const name = nameOf({ record: recordOf.get(fate.statement) ?? '', version: fate.version });
    made.set(name, (made.get(name) ?? 0) + 1);
  }
  return versions.flatMap(({ record, version, isErasure = false }) => {
    const times = made.get(nameOf({ record, version })) ?? 0;
    if (times === 1 || (times === 0 && (isErasure || listed.has(record)))) return [];
    const message = `${record} v${version} is the outcome of ${times === 0 ? 'no event' : `${times} events`}`;
    return [{ rule: 'accepted_is_accounted_for' as const, message }];
  });
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
