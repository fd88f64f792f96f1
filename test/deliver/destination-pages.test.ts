import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { destinationType as http } from '../../src/deliver/destinations/http/destination.ts';
import { presets } from '../../src/deliver/destinations/http/preset.ts';

const docs = new URL('../../docs/', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, docs), 'utf8');

/** The names of the fields that a body fills with values of the record. */
function* fieldsOf(body: unknown, name = ''): Generator<string> {
  if (typeof body === 'string') {
    if (body.includes('{')) yield name;
  } else if (Array.isArray(body)) {
    for (const one of body) yield* fieldsOf(one, name);
  } else if (typeof body === 'object' && body !== null) {
    for (const [key, value] of Object.entries(body)) if (key !== '?') yield* fieldsOf(value, key);
  }
}

for (const { preset, body, on, with: variables } of presets.values()) {
  test(`the page of ${preset} names every setting and every field that is sent`, () => {
    const page = read(`guides/destinations/${preset}.md`);
    assert.ok(existsSync(new URL(`images/destinations/${preset}.svg`, docs)));
    assert.ok(page.includes(`images/destinations/${preset}.svg`));
    for (const name of Object.keys(variables)) assert.ok(page.includes(`| \`${name}\` |`), name);
    const bodies = [body, ...[on.stay, on.moment].map((rule) => (Array.isArray(rule) ? rule.at(-1) : rule)?.body)];
    for (const field of bodies.flatMap((one) => [...fieldsOf(one)])) {
      // A name with a variable is shown with an example of it.
      const shown = field.replace(/\{with\.external_id\}/, 'Innbound_Email__c').replace(/^\{[^}]*\}/, '');
      assert.ok(page.includes(`${shown}\``), `${field} is not on the page`);
    }
  });
}

for (const { preset, auth_example: auth } of presets.values()) {
  test(`the document on the page of ${preset} is valid, and so is the example of its credentials`, () => {
    const [, text = ''] = /```yaml\n([\s\S]*?)```/.exec(read(`guides/destinations/${preset}.md`)) ?? [];
    const { destination, type, receives, consent: _, ...settings } = parse(text);
    assert.deepEqual([destination, type, receives], ['crm', 'http', ['reservation', 'guest']]);
    const { with: variables } = http.settings.parse(settings);
    http.settings.parse({ ...settings, auth });
    assert.deepEqual(
      Object.keys(variables).filter((name) => !(name in (presets.get(preset)?.with ?? {}))),
      [],
    );
  });
}

test('every page of a vendor belongs to a preset and is linked', () => {
  const pages = readdirSync(new URL('guides/destinations/', docs)).sort();
  assert.deepEqual(
    pages,
    [...presets.keys()].map((name) => `${name}.md`),
  );
  const guide = read('guides/deliver.md');
  for (const page of pages) assert.ok(guide.includes(`(destinations/${page})`), page);
});
