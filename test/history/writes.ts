import type { Erasure, History, Violation, Write } from './history.ts';

/** What destinations received: versions in order, none missing, nothing that is not stored; one body per key. */
export function checkWrites({ versions, settled, writes, erasures }: History): Violation[] {
  const found: Violation[] = [];
  const stored = new Map(versions.map(({ record, version, value }) => [`${record} v${version}`, value]));
  for (const { record, version } of versions) {
    if (version > 1 && !stored.has(`${record} v${version - 1}`)) {
      found.push({ rule: 'versions_in_order', message: `${record} has version ${version} and not ${version - 1}` });
    }
  }
  const passedOver = new Set<string>();
  const delivered: string[] = [];
  for (const { destination, record, version, kind } of settled) {
    const name = `${destination} ${record} v${version}`;
    if (kind === 'skipped' || kind === 'dead') passedOver.add(name);
    if (kind === 'delivered') delivered.push(name);
  }
  const newest = new Map<string, number>();
  const arrived = new Set<string>();
  for (const write of writes) {
    const { destination, record, version, value } = write;
    const name = `${destination} ${record} v${version}`;
    arrived.add(name);
    const known = stored.get(`${record} v${version}`);
    if (known !== value) {
      const message = known === undefined ? `${name} is not stored` : `${name} does not say what is stored`;
      found.push({ rule: 'nothing_unsaid', message });
    }
    const line = `${destination} ${record}`;
    const before = newest.get(line) ?? 0;
    if (version < before) found.push({ rule: 'versions_in_order', message: `${name} came after version ${before}` });
    for (let between = before + 1; between < version; between++) {
      if (passedOver.has(`${line} v${between}`)) continue;
      found.push({ rule: 'versions_in_order', message: `${name} came before version ${between}` });
    }
    newest.set(line, Math.max(before, version));
  }
  for (const name of delivered) {
    if (!arrived.has(name)) {
      found.push({ rule: 'accepted_is_accounted_for', message: `${name} counts as delivered and never arrived` });
    }
  }
  return [...found, ...checkKeys(writes, erasures)];
}

/** At one destination; several destinations may get the same key. After an erasure, versions that are sent again lack the guest. */
function checkKeys(writes: readonly Write[], erasures: readonly Erasure[]): Violation[] {
  const found: Violation[] = [];
  const bodies = new Map<string, string>();
  const keys = new Map<string, string>();
  for (const { destination, record, version, key, body, startedAtMs } of writes) {
    const at = `${destination} ${key}`;
    const name = `${destination} ${record} v${version}`;
    const before = bodies.get(at) ?? body;
    const isErased = erasures.some(
      ({ marks, atMs, beganMs = atMs }) => startedAtMs >= beganMs && marks.some((mark) => before.includes(mark)),
    );
    if (before !== body && !isErased) {
      found.push({ rule: 'one_key_one_body', message: `${name}: key ${key} was used for two bodies` });
    }
    if ((keys.get(name) ?? key) !== key) {
      found.push({ rule: 'one_key_one_body', message: `${name} was sent with two keys` });
    }
    bodies.set(at, body);
    keys.set(name, key);
  }
  return found;
}
