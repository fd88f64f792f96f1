import type { JsonObject } from '../../../src/terms.ts';
import { isListed } from './containers.ts';
import { plain } from './kinds.ts';
import type { People } from './people.ts';
import type { Section } from './section.ts';

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
