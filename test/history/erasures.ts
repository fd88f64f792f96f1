import type { Erasure, History, Violation } from './history.ts';

/**
 * After an erasure no call may carry the guest, and nothing in the store may hold the guest. A destination that received an erasure of a
 * guest of a record never gets the guest with that record again, not even by a call that began before.
 */
export function checkErasures({ erasures, writes, versions, kept = [] }: History): Violation[] {
  if (erasures.length === 0) return [];
  const found: Violation[] = [];
  const violated = (message: string) => found.push({ rule: 'nothing_after_erasure', message });
  const told = new Map<string, number>();
  for (const { destination, record, version, body, startedAtMs, isErasure = false } of writes) {
    const line = `${destination} ${record}`;
    const toldAtMs = told.get(line);
    if (isErasure) told.set(line, startedAtMs);
    const carried = erasures.filter((erasure) => isIn(body, erasure));
    if (carried.some(({ atMs }) => startedAtMs > atMs)) violated(`${line} v${version} was sent with an erased guest`);
    else if (toldAtMs !== undefined && carried.some(({ beganMs = 0 }) => beganMs <= toldAtMs)) {
      violated(`${line} v${version} carried a guest whom the destination had been told to erase`);
    }
  }
  for (const { record, version, text = '' } of versions) {
    if (erasures.some((erasure) => isIn(text, erasure))) violated(`${record} v${version} still holds an erased guest`);
  }
  for (const { place, text } of kept) {
    if (erasures.some((erasure) => isIn(text, erasure))) violated(`${place} still holds an erased guest`);
  }
  return found;
}

const isIn = (text: string, { marks }: Erasure): boolean => marks.some((mark) => text.includes(mark));
