import type { JsonObject } from '../terms.ts';
import { plain } from './kinds.ts';
import type { People } from './people.ts';
import type { Section } from './section.ts';

/** The holder of a booking is often listed among its guests as well: one person, with the fields of both places. */
export function withoutRepeats(people: readonly People[], sections: readonly Section[]): readonly Section[] {
  const at = people.findIndex(({ container, head }) => container?.kind === 'object' && typeof head.from === 'string');
  const holder = people[at];
  if (holder === undefined) return sections;
  const place = `$record.${holder.head.from}`;
  let own = sections[at]?.map.fields as JsonObject;
  const others = sections.map((section, index) => {
    const list = people[index];
    const keys = [['guest_id'], ['first_name', 'last_name']].find((fields) =>
      fields.every((field) => holder.matches.has(field) && list?.matches.has(field)),
    );
    if (list?.container?.kind !== 'list' || keys === undefined || !isIn(holder, list, keys)) return section;
    const pathOf = (one: People, field: string) => one.matches.get(field)?.leaf.path ?? '';
    const tests = (test: string) =>
      keys.map((field): JsonObject => ({ [pathOf(list, field)]: { [test]: `${place}.${pathOf(holder, field)}` } }));
    const fields = Object.entries(section.map.fields as JsonObject).map(([field, value]) => {
      const where = Object.assign({}, ...tests('same_as')) as JsonObject;
      return [field, { pick: { from: `$record.${section.map.from}`, where, value } }] as const;
    });
    own = { ...Object.fromEntries(fields), ...own };
    const where = tests('not_same_as').map((test) => ({ ...(section.map.where as JsonObject | undefined), ...test }));
    return { ...section, map: { ...section.map, where: where.length === 1 ? (where[0] as JsonObject) : where } };
  });
  return others.map((section, index) =>
    index === at ? { ...section, map: { ...section.map, fields: own } } : section,
  );
}

function isIn(holder: People, list: People, keys: readonly string[]): boolean {
  const idsOf = ({ matches, container }: People) =>
    (container?.owners ?? []).map((owner, item) =>
      [owner, ...keys.map((key) => plain(matches.get(key)?.leaf.values[item] ?? null).toLowerCase())].join(' '),
    );
  const known = new Set(idsOf(holder));
  return idsOf(list).some((id) => known.has(id));
}
