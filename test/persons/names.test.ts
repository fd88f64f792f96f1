import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareNames, fullNameKey, hasName, type Names } from '../../src/persons/names.ts';

const named = (text: string): Names => {
  const [first, last] = text.split('|').map((part) => part.trim());
  return { ...(first && { first_name: first }), ...(last && { last_name: last }) };
};

const cases: readonly (readonly [a: string, b: string, full: string])[] = [
  ['João | Costa', 'JOAO | COSTA', 'equal'],
  ['Dr. João | Costa', 'João | Costa', 'equal'],
  ['Costa | João', 'João | Costa', 'equal'],
  ['João Costa |', 'João | Costa', 'equal'],
  ['Jean-Pierre | Martin', 'Jean Pierre | Martin', 'equal'],
  ['Conor | O’Neill', 'Conor | ONeill', 'equal'],
  ['Юлия | Иванова', 'Yuliya | Ivanova', 'equal'],
  ['Jürgen | Müller', 'Juergen | Mueller', 'compatible'],
  ['Юрий | Иванов', 'Juri | Iwanow', 'compatible'],
  ['Александр | Щербаков', 'Alexander | Shcherbakov', 'compatible'],
  ['Γιώργος | Παππάς', 'Giorgos | Pappas', 'equal'],
  ['J. | Costa', 'João | Costa', 'compatible'],
  ['Ю. | Иванова', 'Yuliya | Ivanova', 'compatible'],
  ['João | C.', 'João | Costa', 'compatible'],
  ['Bob | Smith', 'Robert | Smith', 'compatible'],
  ['Kate | Smith', 'Katherine | Smith', 'compatible'],
  ['Jhon | Smith', 'John | Smith', 'compatible'],
  ['Micheal | Brown', 'Michael | Brown', 'compatible'],
  ['John | Smtih', 'John | Smith', 'compatible'],
  ['Maria João | Silva', 'Maria | Silva', 'compatible'],
  ['Ana | García López', 'Ana | García', 'compatible'],
  ['Ana | van der Berg', 'Ana | Berg', 'compatible'],
  ['| Costa', 'Ana | Costa', 'missing'],
  ['Guest | Costa', 'Ana | Costa', 'missing'],
  ['伟 | 王', 'Wei | Wang', 'missing'],
  ['João | Costa', 'Maria | Costa', 'incompatible'],
  ['Marco | Rossi', 'Mario | Rossi', 'incompatible'],
  ['Paul | Weber', 'Paula | Weber', 'incompatible'],
  ['Andreas | Koch', 'Andrea | Koch', 'incompatible'],
  ['Mario | Rossi', 'Maria | Rossi', 'incompatible'],
  ['Jan | Novak', 'Ian | Novak', 'incompatible'],
  ['Maria João | Silva', 'Maria José | Silva', 'incompatible'],
  ['John | Smith Jr.', 'John | Smith, Sr', 'incompatible'],
  ['John | Smith II', 'John | Smith III', 'incompatible'],
  ['John Junior | Smith', 'John | Smith Jr', 'equal'],
  ['Sr. Luis | García', 'Luis | García', 'equal'],
  ['Andrea | Costa', 'Costa | Andreas', 'incompatible'],
  ['Galli | Mario', 'Galli | Marco', 'incompatible'],
  ['Ana | Costa', 'Ana | Silva', 'incompatible'],
  ['Ana | García López', 'Ana | García Pérez', 'incompatible'],
];

for (const [a, b, full] of cases) {
  test(`${a} and ${b} are ${full}`, () => {
    assert.equal(compareNames(named(a), named(b)).full, full);
    assert.equal(compareNames(named(b), named(a)).full, full);
  });
}

test('placeholders, titles alone and companies are nobody’s name', () => {
  for (const text of ['Guest | Guest', 'TBA |', 'Mr | Guest', 'Unknown | Unknown', 'Sunny Travel | GmbH', '|']) {
    assert.equal(hasName(named(text)), false, text);
  }
});

test('property: comparing is symmetric, and a name is compatible with itself', () => {
  const word = fc.constantFrom('Ana', 'Anna', 'J.', 'João', 'Maria', 'Costa', 'Müller', 'Mueller', 'Guest', '', 'Юрий');
  const names = fc.tuple(word, word, word).map(([a, b, c]) => named(`${a} ${b} | ${c}`));
  fc.assert(
    fc.property(names, names, (a, b) => {
      assert.deepEqual(compareNames(a, b), compareNames(b, a));
      assert.notEqual(compareNames(a, { ...a }).full, 'incompatible');
      if (fullNameKey(a) !== undefined && fullNameKey(a) === fullNameKey(b)) {
        assert.equal(compareNames(a, b).full, 'equal');
      }
    }),
  );
});
