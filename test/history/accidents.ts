import type { JsonObject } from '../../src/terms.ts';
import type { History, Violation } from './history.ts';

/** No version and no message to a destination shows what a partner said by accident. */
export function checkAccidents({ accidents = [], versions, writes }: History): Violation[] {
  const found: Violation[] = [];
  for (const { integration, isDamaged } of accidents) {
    const before = new Map<string, JsonObject>();
    const check = (place: string, record: string, data: JsonObject) => {
      if (!record.startsWith(`${integration}/`)) return;
      const key = `${place} ${record}`;
      if (isDamaged(data, before.get(key))) {
        found.push({ rule: 'an_accident_destroys_nothing', message: `${record} at ${place} shows an accident` });
      }
      before.set(key, data);
    };
    const inOrder = versions.toSorted((a, b) => a.version - b.version);
    for (const { record, text = '{}' } of inOrder) check('the store', record, JSON.parse(text));
    for (const { destination, record, body } of writes) check(destination, record, JSON.parse(body).data);
  }
  return found;
}
