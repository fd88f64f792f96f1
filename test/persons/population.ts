import type { Guest } from '../../src/core/canonical/reservation.ts';
import { fold, writtenOut } from '../../src/core/persons/fold.ts';
import { Dice } from '../simulation/random.ts';

/** An invented person, with everything that is true about them. */
export interface Person {
  readonly label: string;
  readonly guest: Guest;
  /** People with the same household share an address or a phone. */
  readonly household: string;
  /** Addresses and numbers that somebody else has too. */
  readonly shared: ReadonlySet<string>;
  /** Somebody of the same name has the same address: only a birth date tells them apart, and each mention has it. */
  readonly statesBirth: boolean;
}

/** What a partner says about a person at one place, with the person who is meant. */
export interface Mention {
  readonly person: Person;
  readonly guest: Guest;
}

export const households = [
  'single',
  'couple',
  'family',
  'twins',
  'namesakes',
  'siblings',
  'agency',
  'group',
  'company',
] as const;
export type Household = (typeof households)[number];

/** Where people have more than one name, all of them are in the first field, as partners send them. */
const womenNames = `Ana|Maria João|Joana|Rita|Inês|Beatriz|Catarina|Margarida|Teresa|Sofia|Marta|Julia|Katherine|Elizabeth|Susan|Patricia|
Jennifer|Petra|Sabine|Monika|Ursula|Ingrid|Chiara|Francesca|Paola|Céline|Nathalie|Aurélie|Marie Claire|Carmen|Pilar|Lucía|Юлия|Ольга|Ελένη|
Zofia|Agnieszka|Freja|Astrid|Aylin|Mercedes|Leila|Priya|Yuki|Hannah|Emma|Lena`;
const menNames = `João|Rui|Miguel|Tiago|Luís|António|José Manuel|Robert|William|Michael|Thomas|Richard|James|Jürgen|Wolfgang|Stefan|Andreas|Günther|
Jens|Marco|Mario|Giuseppe|Luca|François|Jean Pierre|Étienne|Javier|Pablo|Юрий|Дмитрий|Γιώργος|Piotr|Krzysztof|Lars|Søren|Mehmet|Mohammed|
Karim|Raj|Kenji|Daniel|Felix|Oskar|Emil`;
const familyNames = `Costa|Silva|Magalhães|Ferreira|Gonçalves|Lopes|Nunes|Brito|Moura|Smith|Jones|O’Neill|McDonald|Brown|Taylor|Müller|Schröder|
Weber|Koch|Vogt|Bäcker|Gruber|van der Berg|de Vries|Rossi|Bianchi|Esposito|Conti|Martin|Dubois|Lefèvre|García López|Pérez|Ibáñez|Иванов|
Соколов|Παππάς|Nowak|Wójcik|Kowalski|Jensen|Sørensen|Lindqvist|Yılmaz|Haddad|Sharma|Tanaka|Novák|Horvat|Popescu|Falk|Wolf|Berger|Hansen|
Almeida|Teixeira|Cardoso|Ribeiro|Marques|Carvalho|Keller|Brandt|Winter|Sommer|Ziegler|Fontana|Galli|Moretti|Girard|Roux|Navarro|Ortega`;
const listOf = (text: string): string[] => text.split('|').map((name) => name.trim());
const [women, men, family] = [listOf(womenNames), listOf(menNames), listOf(familyNames)];

/** Short forms and other usual spellings of some of these names. */
const forms: { readonly [name: string]: readonly string[] } = {
  Katherine: ['Kate', 'Catherine'],
  Elizabeth: ['Liz', 'Beth'],
  Susan: ['Sue'],
  Patricia: ['Pat'],
  Jennifer: ['Jen'],
  Robert: ['Bob', 'Rob'],
  William: ['Bill', 'Will'],
  Michael: ['Mike'],
  Thomas: ['Tom'],
  Richard: ['Rick'],
  James: ['Jim'],
  Jürgen: ['Juergen'],
  Günther: ['Guenther'],
  Ursula: ['Uschi'],
  Юлия: ['Yuliya'],
  Ольга: ['Olga'],
  Ελένη: ['Eleni'],
  Юрий: ['Yuriy', 'Juri'],
  Дмитрий: ['Dmitriy', 'Dmitry'],
  Γιώργος: ['Giorgos'],
  Иванов: ['Ivanov', 'Iwanow'],
  Соколов: ['Sokolov', 'Sokolow'],
  Παππάς: ['Pappas'],
  Müller: ['Mueller', 'Muller'],
  Schröder: ['Schroeder'],
  Bäcker: ['Baecker'],
  Mohammed: ['Muhammad'],
  'García López': ['García'],
  'van der Berg': ['Van Der Berg', 'Berg'],
};

/** Invents people with a seed: the same seed invents the same people. */
export class Population {
  readonly dice: Dice;
  #count = 0;
  #households = 0;

  constructor(seed: number) {
    this.dice = new Dice(seed);
  }

  household(kind: Household = this.dice.pick(households)): Person[] {
    this.#households += 1;
    const { dice } = this;
    const last = dice.pick(family);
    const adult = { first: dice.pick(dice.happens(0.5) ? women : men), last, born: this.#birthDate(1945, 2003) };
    const other = (names: readonly string[]) => dice.pick(names.filter((name) => name !== adult.first));
    switch (kind) {
      case 'single':
        return this.#people([adult], 'own');
      case 'couple': {
        const second = { first: other([...women, ...men]), last: dice.happens(0.7) ? last : dice.pick(family) };
        return this.#people([adult, { ...second, born: this.#birthDate(1945, 2003) }], this.#sharing());
      }
      case 'family': {
        const taken = new Set([adult.first]);
        const next = () => {
          const first = dice.pick([...women, ...men].filter((name) => !taken.has(name)));
          taken.add(first);
          return first;
        };
        const parent = { first: next(), last, born: this.#birthDate(1970, 1990) };
        const child = () => ({ first: next(), last, born: this.#birthDate(2010, 2024), isChild: true });
        return this.#people([adult, parent, ...Array.from({ length: dice.whole(1, 3) }, child)], this.#sharing());
      }
      case 'twins':
        return this.#people([adult, { ...adult, first: other([...women, ...men]) }], this.#sharing());
      case 'namesakes': {
        const older = { ...adult, born: this.#birthDate(1945, 1965), statesBirth: true };
        return this.#people([older, { ...older, born: this.#birthDate(1975, 1999) }], this.#sharing());
      }
      case 'siblings': {
        const pair = dice.pick([
          ['Marco', 'Mario'],
          ['Paul', 'Paula'],
          ['Andrea', 'Andreas'],
          ['Maria João', 'Maria José'],
          ['Ana', 'Anabela'],
        ]);
        return this.#people(
          pair.map((first) => ({ first, last, born: this.#birthDate(1950, 2003) })),
          this.#sharing(),
        );
      }
      case 'company': {
        const office = { first: dice.pick(['Krone', 'Nordlicht']), last: dice.pick(['GmbH', 'Ltd', 'Lda']) };
        return this.#people([adult, { ...office, born: '' }], this.#sharing());
      }
      case 'agency':
      case 'group': {
        const taken = new Set<string>();
        const strangers = Array.from({ length: dice.whole(3, 6) }, () => {
          const first = dice.pick([...women, ...men].filter((name) => !taken.has(name)));
          taken.add(first);
          return { first, last: dice.pick(family), born: this.#birthDate(1945, 2003) };
        });
        return this.#people(strangers, kind === 'agency' ? 'email' : 'phone');
      }
    }
  }

  #sharing(): 'email' | 'phone' | 'both' {
    return this.dice.pick(['email', 'phone', 'both'] as const);
  }

  #birthDate(from: number, to: number): string {
    const two = (n: number) => String(n).padStart(2, '0');
    return `${this.dice.whole(from, to)}-${two(this.dice.whole(1, 12))}-${two(this.dice.whole(1, 28))}`;
  }

  #people(
    of: readonly { first: string; last: string; born: string; isChild?: boolean; statesBirth?: boolean }[],
    sharing: 'own' | 'email' | 'phone' | 'both',
  ): Person[] {
    const household = `h${this.#households}`;
    const shared = new Set<string>();
    const common = { email: `${household}@home.example`, phone: `+3519${String(this.#households).padStart(8, '0')}` };
    if (sharing === 'email' || sharing === 'both') shared.add(common.email);
    if (sharing === 'phone' || sharing === 'both') shared.add(common.phone);
    return of.map(({ first, last, born, isChild = false, statesBirth = false }) => {
      this.#count += 1;
      const label = `p${this.#count}`;
      const own = { email: `${label}@mail.example`, phone: `+3516${String(this.#count).padStart(8, '0')}` };
      const keys = {
        email: shared.has(common.email) ? common.email : own.email,
        phone: shared.has(common.phone) ? common.phone : own.phone,
      };
      const guest: Guest = {
        guest_id: `G-${label}`,
        first_name: first,
        last_name: last,
        ...(!isChild && keys),
        ...(born !== '' && { date_of_birth: born }),
        nationality: this.dice.pick(['PT', 'DE', 'GB', 'IT', 'FR']),
        ...(!isChild && { document_type: 'PP', document_number: `N${this.#count}${this.dice.whole(1_000, 9_999)}` }),
        ...this.dice.pick([{}, { marketing_consent: true }, { marketing_consent: false }]),
        extra: { loyalty_number: `L-${label}` },
      };
      return { label, household, guest, shared, statesBirth };
    });
  }
}

/** How a name is written. `compatible` ways need an address or an id beside them; `equal` ones are the same full name. */
export const ways = {
  equal: ['exact', 'upper', 'plain', 'swapped', 'title'],
  compatible: ['form', 'initial', 'typo', 'second_name', 'spelled'],
} as const;
export type Way = (typeof ways)['equal' | 'compatible'][number] | 'first_typo' | 'none';

/** An initial or a typing mistake that may mean two people is not written: nobody could tell them apart. */
export function clearWay(way: Way, person: Person, others: readonly Person[]): Way {
  // In any script: Ε. may be Elizabeth.
  const initialOf = ({ guest }: Person) => [...fold(guest.first_name?.[0]?.toLowerCase() ?? '')][0];
  const isClear = (ways.equal as readonly Way[]).includes(way);
  return isClear || !others.some((one) => one !== person && initialOf(one) === initialOf(person)) ? way : 'exact';
}

const firstOf = (name: string): string => name.split(' ')[0] ?? name;

export function written({ first_name: first = '', last_name: last = '' }: Guest, way: Way, dice: Dice): Guest {
  switch (way) {
    case 'none':
      return {};
    case 'upper':
      return { first_name: first.toUpperCase(), last_name: last.toUpperCase() };
    case 'plain':
      return { first_name: withoutMarks(first), last_name: withoutMarks(last) };
    case 'swapped':
      return { first_name: last, last_name: first };
    case 'title':
      return { first_name: `${dice.pick(['Mr', 'Mrs', 'Dr.', 'Prof.'])} ${first}`, last_name: last };
    case 'form':
      return { first_name: dice.pick(forms[first] ?? [first]), last_name: dice.pick(forms[last] ?? [last]) };
    case 'spelled':
      return { first_name: writtenOut(last), last_name: writtenOut(first).toUpperCase() };
    case 'initial':
      return { first_name: `${first[0]}.`, last_name: last };
    case 'second_name':
      return { first_name: firstOf(first), last_name: last };
    case 'typo':
      return { first_name: first, last_name: mistyped(last, dice) };
    // May be another usual name (Michael and Michel), so it does not always mean the same person.
    case 'first_typo':
      return { first_name: mistyped(first, dice), last_name: last };
    case 'exact':
      return { first_name: first, last_name: last };
  }
}

/** й is a separate letter, not an и with a mark. */
const withoutMarks = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/(?<!и)\p{M}/gu, '')
    .normalize('NFC');

/** One letter of the longest word left out, doubled, changed or swapped with its neighbour; never the first or the last one. */
export function mistyped(text: string, dice: Dice): string {
  const word = text.split(/[ ’]/).reduce((longest, one) => (one.length > longest.length ? one : longest));
  if (word.length < 5) return text;
  const at = dice.whole(1, word.length - 3);
  const [letter = '', next = ''] = [word[at], word[at + 1]];
  const made = dice.pick([
    word.slice(0, at) + word.slice(at + 1),
    word.slice(0, at) + letter + word.slice(at),
    word.slice(0, at) + dice.pick([...'aeiounrst']) + word.slice(at + 1),
    word.slice(0, at) + next + letter + word.slice(at + 2),
  ]);
  return text.replace(word, made);
}

/** Everything that was said about each person, as the checker needs it: `person field=value`. */
export class SaidAbout {
  readonly #said = new Map<string, Set<string>>();

  add({ person, guest }: Mention): void {
    for (const one of valuesOf(guest)) {
      const persons = this.#said.get(one) ?? new Set();
      this.#said.set(one, persons.add(person.label));
    }
  }

  /** The persons about whom all of this was said; nobody if the record mixes persons. */
  whose(guest: Guest): Set<string> {
    const all = valuesOf(guest).map((one) => this.#said.get(one) ?? new Set<string>());
    const [first = new Set<string>(), ...rest] = all;
    return rest.reduce((left, one) => left.intersection(one), new Set(first));
  }
}

const valuesOf = ({ extra = {}, ...guest }: Guest): string[] =>
  [...Object.entries(guest), ...Object.entries(extra)].map(([field, value]) => `${field}=${JSON.stringify(value)}`);
