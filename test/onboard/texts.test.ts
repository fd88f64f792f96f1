import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { de } from '../../console/partner/texts/de.ts';
import { en } from '../../console/partner/texts/en.ts';
import { es } from '../../console/partner/texts/es.ts';
import { fr } from '../../console/partner/texts/fr.ts';
import { pt } from '../../console/partner/texts/pt.ts';
import type { View } from '../../console/partner/types.ts';
import { fieldWords } from '../../console/partner/words.ts';
import type { Schema } from '../../console/src/editor/completion.ts';
import { authForms } from '../../console/src/pages/onboard/auth.ts';
import { behaviourRules } from '../../packages/partner-kit/src/check/api.ts';
import { entriesOf, fields, type Table } from '../../src/core/canonical/fields.ts';
import { noteOf } from '../../src/core/canonical/notes.ts';
import { errors } from '../../src/errors.ts';
import { checklist } from '../../src/operator/onboard/checklist.ts';
import { noPushFacts, type PullFacts } from '../../src/operator/onboard/facts.ts';
import type { partnerView } from '../../src/operator/operations/onboarding-view.ts';

const translated = Object.entries({ de, es, fr, pt });

test('every language translates the same codes, and each code exists', () => {
  const [, first] = translated[0] ?? [];
  const isNote = (code: string) => noteOf(code as Parameters<typeof noteOf>[0], '').reason !== '';
  for (const [language, { codes }] of translated) {
    for (const part of ['sentences', 'rules', 'auth'] as const) {
      assert.deepEqual(Object.keys(codes[part]), Object.keys(first?.codes[part] ?? {}), `${language} ${part}`);
    }
    for (const code of Object.keys({ ...en.codes.sentences, ...codes.sentences })) {
      assert.ok(code in errors || code.startsWith('effect.') || isNote(code), code);
      assert.ok(codes.sentences[code], `${language} lacks ${code}`);
    }
  }
});

test('every field has words in every language, alone and of its list', () => {
  for (const [language, texts] of [['en', en] as const, ...translated]) {
    for (const table of Object.keys(fields) as Table[]) {
      for (const [name] of entriesOf(table).filter(([, { derived }]) => !derived)) {
        if (name === 'extra') continue;
        assert.ok(texts.fields[name], `${language}: ${name}`);
        const full = table === 'reservation' ? name : `${table}.${name}`;
        assert.doesNotMatch(fieldWords(full, texts), /_|undefined|guests|rooms|charges/, language);
      }
    }
  }
  assert.equal(fieldWords('guests[0].email_raw', de), 'Gast: E-Mail');
});

test('every way to sign in has words in every language', () => {
  const schema = JSON.parse(readFileSync(new URL('../../schemas/integration.json', import.meta.url), 'utf8')) as Schema;
  const needed = authForms(schema).flatMap(({ title, fields }) => [
    [title],
    ...fields.map(({ name }) => [`${title}.${name}`, name]),
  ]);
  for (const [language, { codes }] of translated) {
    for (const keys of needed)
      assert.ok(
        keys.some((key) => codes.auth[key]),
        `${language}: ${keys}`,
      );
  }
  // In English the schema has words for its fields, written for the operator: none may speak of the reader as of another.
  for (const { title, fields } of authForms(schema)) {
    assert.ok(en.codes.auth[title], title);
    for (const { name, description } of fields) {
      const [, words = description] = en.codes.auth[`${title}.${name}`] ?? en.codes.auth[name] ?? [];
      assert.doesNotMatch(words, /partner/, `${title}.${name}`);
    }
  }
});

test('every rule of the check and every line of the checklist has words in every language', () => {
  const asked = /^(list\.(?!root|status)|answers|paging\.(?!envelope))/;
  const rules = behaviourRules.filter(({ id }) => asked.test(id)).map(({ id }) => id);
  const facts = { check: { requests: 1 }, missing: [], unknown: [], differing: [] } as unknown as PullFacts;
  const { checks } = checklist(['push', 'pull'], noPushFacts, facts);
  for (const [language, { codes, checks: texts }] of [['en', en] as const, ...translated]) {
    if (language !== 'en') assert.deepEqual(Object.keys(codes.rules).toSorted(), rules.toSorted(), language);
    for (const { id } of checks) assert.ok(texts.item[id], `${language}: ${id}`);
  }
});

/** As it arrives: dates are text. */
type Sent<Of> = Of extends Date ? string : Of extends object ? { [Key in keyof Of]: Sent<Of[Key]> } : Of;

test('the page’s types are what the service sends', () => {
  // Checked by the compiler.
  const shown = (view: Sent<Awaited<ReturnType<typeof partnerView>>>): View => view;
  assert.equal(typeof shown, 'function');
});
