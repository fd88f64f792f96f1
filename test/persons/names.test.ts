import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareNames, fullNameKey, kindOf, type Names } from '../../src/core/persons/names.ts';

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
  ['Jürgen | Müller', 'Juergen | Mueller', 'equal'],
  ['Juergen | Mueller', 'Müller | Jürgen', 'equal'],
  ['Juergen | Mueller', '| MÜLLER, Jürgen', 'equal'],
  ['Herr Juergen | Mueller', 'Muller | Jurgen', 'compatible'],
  ['Søren | Sørensen', 'Soerensen | Soeren', 'equal'],
  ['Håkon | Ågård', 'Aagaard | Haakon', 'equal'],
  ['Jörg | Groß', 'GROSS | JOERG', 'equal'],
  ['Юрий | Иванов', 'Juri | Iwanow', 'compatible'],
  ['Александр | Щербаков', 'Alexander | Shcherbakov', 'compatible'],
  ['Γιώργος | Παππάς', 'Giorgos | Pappas', 'equal'],
  ['J. | Costa', 'João | Costa', 'compatible'],
  ['Ю. | Иванова', 'Yuliya | Ivanova', 'compatible'],
  ['João | C.', 'João | Costa', 'compatible'],
  ['Bob | Smith', 'Robert | Smith', 'compatible'],
  ['Kate | Smith', 'Katherine | Smith', 'compatible'],
  ['Toni | Huber', 'Anton | Huber', 'compatible'],
  ['Basti | Huber', 'Sebastian | Huber', 'compatible'],
  ['Pepe | García', 'José | García', 'compatible'],
  ['Klaus | Huber', 'Nikolaus | Huber', 'incompatible'],
  ['Jhon | Smith', 'John | Smith', 'compatible'],
  ['Micheal | Brown', 'Michael | Brown', 'compatible'],
  ['John | Smtih', 'John | Smith', 'compatible'],
  ['Maria João | Silva', 'Maria | Silva', 'compatible'],
  ['Smith | Bob', 'Robert | Smith', 'compatible'],
  ['Smtih | Bob', 'Robert | Smith', 'compatible'],
  ['Mueller | J.', 'Jürgen | Müller', 'compatible'],
  ['García López | Ana María', 'Ana | García', 'compatible'],
  ['Bob Smith |', 'Robert | Smith', 'compatible'],
  ['| Smith Bob', 'Robert | Smith', 'compatible'],
  ['| Anna Müller', 'Jürgen | Müller', 'incompatible'],
  ['J. | M.', 'Maria | Jones', 'incompatible'],
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

test('placeholders and titles alone are nobody’s name', () => {
  for (const text of ['Guest | Guest', 'TBA |', 'Mr | Guest', 'Unknown | Unknown', 'Herr |', '| Mrs', '|']) {
    assert.equal(kindOf(named(text)), undefined, text);
  }
});

const companies = `Sunny Travel | GmbH, | Krone GmbH, Krone GmbH & Co. KG |, | KRONE GMBH, Krone | AG Hotels, | Krone AG, | Robert Bosch AG, | Nord Ltd,
| Nord Ltd., | Nord LLC, | Nord Inc., | Petra S.A., | Petra S/A, | Sol Lda, | Sol Unipessoal Lda., | Sol S.L., | Sole S.r.l., | Sole S.p.A., | Berg B.V.,
| Järvi Oy, | Sjö AB, | Sjö A/S, | Wisła Sp. z o.o., | Dvůr s.r.o., Hotel | Krone, | Meier Reisen, | Viagens Reis, | Krone Tours, | Weber & Söhne,
| Smith & Sons, | Expedia, | Booking.com, | Turnverein Berg e.V., | Agence Soleil, | Universität Bremen`;
for (const text of companies.split(/,\s/)) {
  test(`${text.trim()} is a company`, () => assert.equal(kindOf(named(text)), 'company'));
}

const people = `Mehmet | Ağ, | Mehmet Ağ, Anna | Sas, | Anna Sas, João | Reis, Rui | Reisen, Marco | Tours, Per | As, Ana | Sá, Ana Sá |, Li | Se, Ko | Ab,
Htun | Oo, Anna | Hotelling, Carl | Incze, Sa | Costa, Ag |, | Reis, Bea | Kg, Maria | Ltdow, Anna & Peter | Weber, J. P. | Sa`;
for (const text of people.split(/,\s/)) {
  test(`${text.trim()} is a person`, () => assert.equal(kindOf(named(text)), 'person'));
}

test('property: comparing is symmetric, and a name is compatible with itself', () => {
  const word = fc.constantFrom('Ana', 'Anna', 'J.', 'João', 'Maria', 'Costa', 'Müller', 'Mueller', 'GmbH', '', 'Юрий');
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
