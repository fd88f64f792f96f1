import assert from 'node:assert/strict';
import { test } from 'node:test';
import { movedTo } from '../../../packages/suggest/src/index.ts';

test('a renamed field is found by its value, also where the value was cleaned', () => {
  const rows = [1, 2, 3].map((n) => ({
    payload: { id: `R${n}`, contact: { mail: ` Guest${n}@Mail.example ` }, tel: `0912 345 67${n}`, note: 'x' },
    email: `guest${n}@mail.example`,
    phone: `+35191234567${n}`,
  }));
  assert.equal(movedTo(rows.map(({ payload, email }) => ({ payload, value: email }))), 'contact.mail');
  assert.equal(movedTo(rows.map(({ payload, phone }) => ({ payload, value: phone }))), 'tel');
  assert.equal(movedTo(rows.map(({ payload }) => ({ payload, value: 'nowhere' }))), undefined);
  assert.equal(
    movedTo(rows.map(({ payload }, n) => ({ payload, value: n === 0 ? 'x' : 'y' }))),
    undefined,
    'by chance',
  );
});
