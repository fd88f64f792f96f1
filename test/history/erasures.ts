import type { History, Violation } from './history.ts';

/** After an erasure no call may carry the guest, and no stored version may hold the guest. */
export function checkErasures({ erasures, writes, versions }: History): Violation[] {
  if (erasures.length === 0) return [];
  const found: Violation[] = [];
  for (const { atMs, marks } of erasures) {
    for (const { destination, record, version, body, startedAtMs } of writes) {
      if (startedAtMs <= atMs || !marks.some((mark) => body.includes(mark))) continue;
      const message = `${destination} ${record} v${version} was sent with an erased guest`;
      found.push({ rule: 'nothing_after_erasure', message });
    }
    for (const { record, version, text = '' } of versions) {
      if (!marks.some((mark) => text.includes(mark))) continue;
      found.push({ rule: 'nothing_after_erasure', message: `${record} v${version} still holds an erased guest` });
    }
  }
  return found;
}
