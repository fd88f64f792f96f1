import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** Only `src/core/persons` decides whether two mentions are one person: no other code compares names, addresses, numbers or ids of guests. */

const root = path.join(import.meta.dirname, '..', '..', 'src');

const field = '(?:first_name|last_name|email|email_raw|phone|phone_raw|guest_id|date_of_birth|document_number)';
/** A function whose result represents one of these fields. */
const made = '(?:nameOf|keyOf|fullNameKey|nameKey|lastName|ownEmailOf)\\((?!target)[^()]*\\)';
const one = `(?:\\b${field}\\b|${made})`;
const nothing = "(?:undefined|null|true|false|'[^']*'|typeof\\b)";
const comparisons = [
  new RegExp(`${one}(?: \\?\\? [\\w.]+)?\\)? [!=]==? (?!${nothing})`, 'g'),
  new RegExp(`(?<!${nothing}) [!=]==? \\(?(?:[\\w?.[\\]]+\\.)?${one}`, 'g'),
  new RegExp(`\\.(?:has|includes|indexOf|localeCompare)\\([^()]*${one}`, 'g'),
];

/** Comparisons that do not decide who somebody is. */
const exceptions: { readonly [file: string]: string } = {
  'core/deliver/destinations/http/people.ts':
    'a vendor has one contact per address: this compares contacts, and persons with samePerson',
  'operator/privacy/person.ts':
    'an erasure request names everybody who has the address, number or id; a last name alone is removed rather than kept',
  'core/store/records/search-keys.ts': 'one guest’s address, as written and cleaned',
};

function comparisonsIn(text: string): string[] {
  if (!/canonical\/reservation|persons\//.test(text)) return [];
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  return comparisons.flatMap((pattern) => [...code.matchAll(pattern)].map(([found]) => found.trim()));
}

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.startsWith(path.join('core', 'persons') + path.sep),
);
const found = new Map(files.map((file) => [file, comparisonsIn(readFileSync(path.join(root, file), 'utf8'))]));

test('no code outside src/core/persons compares guests', () => {
  const others = [...found].filter(([file, texts]) => texts.length > 0 && exceptions[file] === undefined);
  assert.deepEqual(Object.fromEntries(others), {});
});

test('every exception is still one', () => {
  assert.deepEqual(
    Object.keys(exceptions).filter((file) => (found.get(file) ?? []).length === 0),
    [],
  );
});

test('the search finds comparisons in every form', () => {
  const forms = [
    'a.email === b.email',
    'guest.phone !== other.phone',
    'known.guest_id == id',
    'names.some((name) => name === guest.last_name)',
    'emails.has(guest.email)',
    'phones.includes(phone)',
    '(a.guest_id ?? b.guest_id) === (b.guest_id ?? a.guest_id)',
    'fullNameKey(a) === fullNameKey(b)',
    'a.last_name?.localeCompare(b.last_name)',
  ];
  const missed = forms.filter((form) => comparisonsIn(`import 'core/canonical/reservation.ts'; ${form}`).length === 0);
  assert.deepEqual(missed, []);
  const harmless = "if (guest.email !== undefined && guest.phone === '' && typeof guest.guest_id === 'string') return;";
  assert.deepEqual(comparisonsIn(`import 'core/canonical/reservation.ts'; ${harmless}`), []);
});
