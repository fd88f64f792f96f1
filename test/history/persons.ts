import type { History, Violation } from './history.ts';

/** What a message states about one guest of a record, with the person whom it means. */
export interface Mention {
  readonly record: string;
  readonly person: string;
  readonly guest: object;
}

/**
 * Nobody has a field or a consent that was not stated about them: for every guest of a stored or delivered version there is a person
 * about whom partners stated each of its values.
 */
export function checkPersons({ mentions = [], versions, writes }: History): Violation[] {
  if (mentions.length === 0) return [];
  const said = new Map<string, Set<string>>();
  for (const { record, person, guest } of mentions) {
    for (const value of valuesOf(guest)) {
      const persons = said.get(`${record} ${value}`) ?? new Set();
      said.set(`${record} ${value}`, persons.add(person));
    }
  }
  const isMixed = (record: string, guest: object): boolean => {
    const [first = new Set<string>(), ...rest] = valuesOf(guest).map(
      (value) => said.get(`${record} ${value}`) ?? new Set(),
    );
    return Object.keys(guest).length > 0 && rest.reduce((left, one) => left.intersection(one), first).size === 0;
  };
  const found = (what: string, record: string, text: string): Violation[] =>
    guestsIn(text).some((guest) => isMixed(record, guest))
      ? [{ rule: 'nothing_of_another_person', message: `${what} has a guest with values of two persons` }]
      : [];
  return [
    ...versions.flatMap(({ record, version, text = '' }) => found(`${record} v${version}`, record, text)),
    ...writes.flatMap(({ destination, record, version, body }) =>
      found(`${destination} ${record} v${version}`, record, body),
    ),
  ];
}

const valuesOf = (guest: object): string[] =>
  Object.entries(guest).map(([field, value]) => `${field}=${JSON.stringify(value)}`);

/** Of a record, or of a message with a record. */
function guestsIn(text: string): object[] {
  if (text === '') return [];
  const record = JSON.parse(text);
  return (record.data ?? record).guests ?? [];
}
