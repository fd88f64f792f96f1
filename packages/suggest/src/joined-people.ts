import type { Json, JsonObject } from '../../../src/terms.ts';
import { plain } from './kinds.ts';
import type { Leaf } from './leaf.ts';
import { matchGuest, type People, scoreOf } from './people.ts';
import { refersBack, refersTo, type Table } from './tables.ts';

/** People in a table that the record refers to by id. */
export function joinedPeople(recordLeaves: readonly Leaf[], tables: readonly Table[]): People[] {
  return tables.flatMap((table) => {
    const matches = matchGuest(table.leaves);
    const score = scoreOf(matches, table.words);
    const references = recordLeaves.filter(
      (leaf) => (leaf.kind === 'value' || leaf.kind === 'list') && refersTo(leaf, table, recordLeaves),
    );
    const [first] = references;
    if (score < 3.5 || table.id === undefined || first === undefined) return [];
    const from: Json = references.length === 1 ? first.path : references.map(({ path }) => path);
    const key = table.id.path;
    const head = {
      from,
      join: { in: table.path, key, by: '$item' },
      ...(table.kind && { where: { [table.kind.key]: table.kind.value } }),
      ...(references.length > 1 && { unique: key }),
    };
    const known = references.map(({ path }) => ({ [key]: { not_same_as: `$record.${path}` } }));
    const further = companions(recordLeaves, tables, table).map((join): People => {
      const where = Object.assign({}, ...known) as JsonObject;
      return {
        head: { join, ...(references.length === 1 && { where }), unique: key },
        leaves: table.leaves,
        matches: new Map(matches),
        score,
      };
    });
    return [{ head, leaves: table.leaves, matches, score }, ...further];
  });
}

/** Link tables: each row refers to a reservation and a person. */
function companions(recordLeaves: readonly Leaf[], tables: readonly Table[], people: Table): Json[] {
  return tables.flatMap((between) => {
    // Objects of several kinds refer to each other by their own relationships.
    if (between.kind !== undefined || people.kind !== undefined) return [];
    // Lines of a bill refer to both as well.
    if (between === people || between.leaves.some(({ own, around }) => [...own, ...around].includes('amount')))
      return [];
    const person = between.leaves.find(
      (leaf) => leaf !== between.id && leaf.kind === 'value' && refersTo(leaf, people),
    );
    if (person === undefined) return [];
    for (const leaf of recordLeaves) {
      const ids = new Set(leaf.values.map((value) => plain(value ?? null)));
      if (leaf.kind !== 'value' || ids.size !== leaf.values.length) continue;
      const back = refersBack(between, ids);
      if (back === undefined || back === person) continue;
      return [
        [
          { in: between.path, key: back.path, by: leaf.path },
          { in: people.path, key: people.id?.path ?? '', by: person.path },
        ],
      ];
    }
    return [];
  });
}
