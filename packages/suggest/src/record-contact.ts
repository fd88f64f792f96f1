import { isListed } from './containers.ts';
import { plain } from './kinds.ts';
import type { Leaf } from './leaf.ts';
import { strangerWords } from './lexicon.ts';
import { matchOf } from './match.ts';
import { matchGuest, type People } from './people.ts';

/** The e-mail address and phone of the record are its first guest's, if the guests have none and the record names nobody else. */
export function addContact({ container, matches }: People, beside: readonly Leaf[]): void {
  const names = ['full_name', 'first_name', 'last_name'].flatMap((field) => matches.get(field)?.leaf ?? []);
  const own = matchGuest(beside.filter((leaf) => !leaf.own.some((word) => others.has(word))));
  const isFirst = (name: string, record: number) =>
    name.includes(plain(names.at(-1)?.values[container?.owners.indexOf(record) ?? 0] ?? null));
  const holder = (own.get('full_name') ?? own.get('last_name'))?.leaf.values ?? [];
  if (container === undefined || holder.some((name, record) => name && !isFirst(plain(name), record))) return;
  const first = `$record.${container.from.replaceAll('[]', '[0]')}${container.kind === 'list' ? '[0]' : ''}`;
  const when = Object.fromEntries(names.map(({ path }) => [path, { same_as: `${first}.${path}` }]));
  for (const { field, leaf } of ['email', 'phone'].flatMap((name) => own.get(name) ?? [])) {
    const path = `$record.${leaf.path}`;
    const source = isListed(container) ? { path, when } : path;
    matches.set(field, matchOf(field, { ...leaf, path, source }, 0.7, 'beside the guests, none of whom has one'));
  }
}

const others = new Set([...strangerWords].filter((word) => word !== 'address'));
