import type { Json, JsonObject } from '../../../src/terms.ts';
import { isListed } from './containers.ts';
import { type Leaf, plain } from './leaf.ts';
import { matchGuest, type People, scoreOf } from './people.ts';
import type { Section } from './section.ts';
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
    if (between.kind !== undefined) return [];
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

/** The holder of a booking is often listed among its guests as well: one person, with the fields of both places. */
export function withoutRepeats(people: readonly People[], sections: readonly Section[]): readonly Section[] {
  const at = people.findIndex(({ container, head }) => isListed(container) === false && typeof head.from === 'string');
  const holder = people[at];
  if (holder === undefined) return sections;
  const place = `$record.${holder.head.from}`;
  let own = sections[at]?.map.fields as JsonObject;
  const others = sections.map((section, index) => {
    const list = people[index];
    const keys = [['guest_id'], ['first_name', 'last_name'], ['full_name']].find(
      (fields) => list && isIn(holder, list, fields),
    );
    if (!isListed(list?.container) || list === undefined || keys === undefined) return section;
    const pathOf = (one: People, field: string) => one.matches.get(field)?.leaf.path ?? '';
    const tests = (test: string) =>
      keys.map((field): JsonObject => ({ [pathOf(list, field)]: { [test]: `${place}.${pathOf(holder, field)}` } }));
    const isEmpty = (field: string) => holder.matches.get(field)?.leaf.values.every((value) => value === undefined);
    const wanted = Object.entries(section.map.fields as JsonObject).filter(([field]) => !own[field] || isEmpty(field));
    const fields = wanted.map(([field, value]) => {
      const where = Object.assign({}, ...tests('same_as')) as JsonObject;
      return [field, { pick: { from: `$record.${section.map.from}`, where, value } }] as const;
    });
    own = { ...own, ...Object.fromEntries(fields) };
    const where = tests('not_same_as').map((test) => ({ ...(section.map.where as JsonObject | undefined), ...test }));
    return { ...section, map: { ...section.map, where: where.length === 1 ? (where[0] as JsonObject) : where } };
  });
  return others.map((section, index) =>
    index === at ? { ...section, map: { ...section.map, fields: own } } : section,
  );
}

function isIn(holder: People, list: People, keys: readonly string[]): boolean {
  if (!keys.every((key) => holder.matches.has(key) && list.matches.has(key))) return false;
  const idsOf = ({ matches, container }: People) =>
    (container?.owners ?? []).flatMap((owner, item) => {
      const values = keys.map((key) => plain(matches.get(key)?.leaf.values[item] ?? null).toLowerCase());
      return values.includes('') ? [] : [owner, ...values].join(' ');
    });
  const known = new Set(idsOf(holder));
  return idsOf(list).some((id) => known.has(id));
}
