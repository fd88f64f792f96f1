import { readPhone } from '../../../src/core/normalize/phone.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import { type Leaf, parentOf, plain } from './leaf.ts';
import { type Section, withField } from './section.ts';

/** Names of the parts before a phone number, without the word phone itself. */
const dialNames =
  /^(?:(?:country )?(?:(?:dial|dialling|dialing|calling|call) )?(?:code|prefix)|(?:international )?prefix|cc|ddi)$/;
const areaNames = /^(?:(?:city )?area(?: city)?(?: code)?|ddd)$/;

/** A phone in parts: dialling code, area and number become one. */
export function withDialCode(section: Section, leaves: readonly Leaf[]): Section {
  const phone = section.matches.get('phone');
  const fields = section.map.fields as JsonObject;
  if (phone === undefined || phone.others.length > 0 || typeof fields.phone !== 'string') return section;
  const parts = phonePartsOf(phone.leaf.path, leaves);
  if (parts === undefined) return section;
  const path = fields.phone;
  const joined = { join: [...parts, path], with: '', when: { [path]: { exists: true } } };
  return withField(section, 'phone', joined, 'joined with the dialling code or its plus');
}

/** The parts to put before a number, as a mapping writes them; undefined if the number is complete. */
export function phonePartsOf(path: string, leaves: readonly Part[]): Json[] | undefined {
  const number = leaves.find((leaf) => leaf.path === path);
  if (number === undefined || valuesOf(number).some((value) => /^(?:\+|00)/.test(value))) return undefined;
  const beside = leaves.filter((leaf) => parentOf(leaf.path) === parentOf(path));
  const find = (names: RegExp, look: RegExp) =>
    beside.find((leaf) => {
      const [name, values] = [leaf.own.filter((word) => !owners.has(word)).join(' '), valuesOf(leaf)];
      return leaf !== number && names.test(name) && values.length > 0 && values.every((value) => look.test(value));
    });
  const dial = find(dialNames, /^(?:\+|00)?[1-9]\d{0,3}$/);
  const area = find(areaNames, /^\d{1,5}$/);
  if (dial === undefined && area === undefined) return hasCountryCode(valuesOf(number)) ? [{ const: '+' }] : undefined;
  const sign = dial !== undefined && !valuesOf(dial).some((value) => /^(?:\+|00)/.test(value));
  return [...(sign ? [{ const: '+' }] : []), ...(dial ? [dial.path] : []), ...(area ? [area.path] : [])];
}

/** Numbers that are real ones of many countries once they have a plus. */
function hasCountryCode(numbers: readonly string[]): boolean {
  const real = numbers.filter((number) => readPhone(`+${number}`, {}).kind === 'number');
  return real.length > 1 && real.length > numbers.length * 0.8;
}

type Part = Pick<Leaf, 'path' | 'own' | 'values'>;
const owners = new Set(['guest', 'customer', 'client', 'contact', 'phone', 'mobile', 'tel']);
const valuesOf = ({ values }: Part): string[] => values.flatMap((value) => (value === undefined ? [] : [plain(value)]));
