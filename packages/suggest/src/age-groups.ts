import type { Json, JsonObject } from '../../../src/terms.ts';
import type { Container } from './containers.ts';
import { plain } from './kinds.ts';
import { present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { refersTo, type Table } from './tables.ts';

/** Counts by age category, if a table defines the categories. */
export function countPersons(containers: readonly Container[], tables: readonly Table[]): JsonObject {
  for (const { items, from, kind, inside } of containers) {
    if (kind !== 'list' || inside.length > 0) continue;
    const leaves = leavesOf(items);
    const count = leaves.find(
      (leaf) => leaf.own.includes('count') && present(leaf).every((value) => typeof value === 'number'),
    );
    for (const leaf of leaves) {
      const table = tables.find((one) => refersTo(leaf, one));
      const group = table?.leaves.find((one) => present(one).some((value) => /^adult/i.test(plain(value))));
      if (count === undefined || table?.id === undefined || group === undefined) continue;
      const spellings = [...new Set(present(group).map(plain))];
      const adults = spellings.filter((value) => /^adult/i.test(value));
      const others = spellings.filter((value) => !/^adult/i.test(value));
      const join = { in: table.path, key: table.id.path, by: leaf.path };
      const counted = (of: string[]): Json => ({
        sum: { from, join, where: { [group.path]: of }, value: `$parent.${count.path}` },
      });
      const none = { const: 0, when: { [table.path]: { exists: true } } };
      return { adults: counted(adults), ...(others.length > 0 && { children: { first: [counted(others), none] } }) };
    }
  }
  return {};
}
