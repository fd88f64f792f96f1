import { type Country, countries } from './countries.ts';
import type { Random } from './random.ts';

/** A guest as the hotel stores them: as typed at the desk, or as a booking site sent them. */
export interface HotelGuest {
  readonly guestId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly dateOfBirth: string | undefined;
  readonly nationality: string;
  readonly documentType: string | undefined;
  readonly documentNumber: string | undefined;
  readonly marketingConsent: boolean;
}

export function inventGuest(random: Random, guestId: string, untidy: number): HotelGuest {
  const country = random.weighted(weights);
  const first = random.pick(country.first);
  const last = random.pick(country.last);
  const name = random.chance(untidy) ? untidyName(random, first, last) : { first, last };
  const documented = random.chance(0.7);
  return {
    guestId,
    firstName: name.first,
    lastName: name.last,
    email: random.chance(0.93) ? inventEmail(random, first, last, untidy) : undefined,
    phone: random.chance(0.9) ? inventPhone(random, country, untidy) : undefined,
    dateOfBirth: random.chance(0.75) ? inventBirthday(random) : undefined,
    nationality: country.code,
    documentType: documented ? random.pick(['PP', 'ID', 'DL']) : undefined,
    documentNumber: documented ? random.pick(['X', 'C', 'N', 'P']) + random.digits(8) : undefined,
    marketingConsent: random.chance(0.55),
  };
}

const weights = countries.map((country) => [country.weight, country] as const) as unknown as readonly [
  readonly [number, Country],
  ...(readonly [number, Country])[],
];

function untidyName(random: Random, first: string, last: string): { first: string; last: string } {
  return random.weighted([
    [5, { first: first.toUpperCase(), last: last.toUpperCase() }],
    [4, { first: first.toLowerCase(), last: last.toLowerCase() }],
    [2, { first: ` ${first}`, last: `${last}  ` }],
    [2, { first: `${random.pick(['Mr', 'Mrs.', 'Dr.', 'MS'])} ${first}`, last }],
    [2, { first: '', last: `${last.toUpperCase()}/${first.toUpperCase()} ${random.pick(['MR', 'MRS', 'MS'])}` }],
    [1, { first: random.pick(['TBA', 'Guest', 'N/A', '.']), last }],
    [1, { first: first.replace(' ', '  '), last: last.replace(/[ -]/, '  ') }],
  ]);
}

const hosts = ['mail', 'post', 'inbox', 'letters', 'webpost', 'brevmail'] as const;

export function inventEmail(random: Random, first: string, last: string, untidy: number): string {
  const local = `${ascii(first) || 'guest'}.${ascii(last) || random.digits(4)}${random.int(1, 999)}`;
  const address = `${local}@${random.pick(hosts)}.example`;
  if (!random.chance(untidy)) return address;
  return random.weighted([
    [4, address.toUpperCase()],
    [3, ` ${address} `],
    [1, `mailto:${address}`],
    [1, `${address}.`],
    [1, `${address}; ${local}@office.example`],
    [1, local],
    [1, 'noemail'],
  ]);
}

function ascii(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();
}

export function inventPhone(random: Random, country: Country, untidy: number): string {
  const national = country.mobile.replaceAll('#', () => String(random.int(0, 9)));
  const tidy = `+${country.dial}${national.replace(/\D/g, '')}`;
  if (!random.chance(untidy)) return tidy;
  return random.weighted([
    [5, `+${country.dial} ${national}`],
    [3, `00${country.dial}${national.replace(/\D/g, '')}`],
    [3, `${country.trunk}${national}`],
    [2, `(+${country.dial}) ${country.trunk === '' ? '' : `(${country.trunk})`}${national}`],
    [1, `+${country.dial} ${national} ext. ${random.int(10, 99)}`],
    [1, national.slice(0, 5)],
    [1, random.pick(['000000000', 'n/a', '-'])],
  ]);
}

function inventBirthday(random: Random): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${random.int(1942, 2006)}-${two(random.int(1, 12))}-${two(random.int(1, 28))}`;
}

/** The country of a nationality, for phone numbers; the first of the table if unknown. */
export function countryOf(nationality: string): Country {
  return countries.find((country) => country.code === nationality) ?? countries[0];
}
