import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openOffload } from '../../src/kit/offload.ts';
import { withoutCards } from '../../src/operator/privacy/cards.ts';

const clean = (text: string) => withoutCards(Buffer.from(text)).bytes.toString();

/** Numbers that the schemes publish for tests. */
const numbers = [
  '4111111111111111',
  '4012888888881881',
  '4222222222222',
  '5555555555554444',
  '2223003122003222',
  '378282246310005',
  '6011111111111117',
  '3530111333300000',
  '30569309025904',
  '6200000000000005',
];

test('removes card numbers anywhere in a payload, and the JSON stays valid', () => {
  for (const number of numbers) {
    const grouped = number.length === 16 ? (number.match(/.{4}/g) ?? []) : [number];
    for (const written of [number, grouped.join(' '), grouped.join('-')]) {
      const body = JSON.stringify({
        card: { number: written, holder: 'x' },
        remarks: `please charge ${written}, thanks`,
        payment_card_number: written,
        list: [written],
      });
      const kept = clean(body);
      assert.ok(!kept.includes(written) && !kept.includes(number), kept);
      const { card, remarks } = JSON.parse(kept) as { card: { number: string }; remarks: string };
      assert.equal(card.number, `[card ${number.slice(-4)}]`);
      assert.equal(remarks, `please charge [card ${number.slice(-4)}], thanks`);
    }
    const bare = clean(`{"cardNumber": ${number}, "list": [${number},${number}]}`);
    assert.ok(!bare.includes(number));
    assert.equal((JSON.parse(bare) as { cardNumber: string }).cardNumber, `[card ${number.slice(-4)}]`);
    assert.ok(!clean(`<CardNumber>${number}</CardNumber>`).includes(number));
  }
});

test('removes security codes, but not the same digits elsewhere', () => {
  const body =
    '{"card":{"cvv":"123","CVC2": 4567 ,"security_code":"999","card_cvv_code":"321","guestCvv":"555","cardVerificationValue":"777"},"room":"123","total":4567}';
  const kept = clean(body);
  assert.deepEqual(JSON.parse(kept), {
    card: {
      cvv: '[cvv]',
      CVC2: '[cvv]',
      security_code: '[cvv]',
      card_cvv_code: '[cvv]',
      guestCvv: '[cvv]',
      cardVerificationValue: '[cvv]',
    },
    room: '123',
    total: 4567,
  });
});

test('removes a verification value that comes with a card number', () => {
  const kept = clean('{"number":"4111 1111 1111 1111","verificationValue":"123","card_verification_code":4567}');
  assert.deepEqual(JSON.parse(kept), {
    number: '[card 1111]',
    verificationValue: '[cvv]',
    card_verification_code: '[cvv]',
  });
});

test('removes card numbers from remarks as people write them', () => {
  const number = '4111111111111111';
  const spaced = '4111 1111 1111 1111';
  for (const remark of [
    `VISA ${spaced} 12/27 123`,
    `charge ${number}.`,
    `card=${number}`,
    `${number}/12/27`,
    `CC/VI${number}EXP1227`,
    `VI/${number}/1227`,
    `;${number}=27121010000012345678?`,
    `2 rooms, 2 ${spaced}`,
    `no.${number}`,
    'card\n4111111111111111\nthanks',
    '4111.1111.1111.1111',
    'AX 3782 822463 10005, DC 3056 930902 5904',
    `"${number}"`,
  ]) {
    const kept = clean(JSON.stringify({ remarks: remark }));
    assert.doesNotMatch(kept, /1111.?1111.?1111.?1|822463|930902/, kept);
    assert.match((JSON.parse(kept) as { remarks: string }).remarks, /\[card \d{4}\]/);
  }
  assert.ok(!clean(`{"remarks":"x\\u00a0${number}"}`).includes(number));
});

test('reads hostile payloads once', async () => {
  const bodies = {
    bare: `[${'4111111111111111,'.repeat(20_000)}1]`,
    spaced: `{"id":${' '.repeat(390)}4111111111111111,`.repeat(2_000),
    digits: '4'.repeat(1_000_000),
    groups: '4111 1111 '.repeat(40_000),
    codes: `{"cvv":"12${'"cv_'.repeat(250_000)}`,
  };
  // They take up to 0.3 seconds. A reading that hangs is ended in this thread; in the thread of the test nothing could end it.
  const script = new URL('cards-worker.ts', import.meta.url);
  const worker = openOffload({ script, deadlineMs: 60_000, perHolder: 1, memoryMb: 512 });
  for (const [name, body] of Object.entries(bodies)) {
    assert.equal((await worker.run('withoutCards', body)).kind, 'done', name);
  }
  await worker.close();
});

test('leaves ids, phone numbers, dates and amounts unchanged', () => {
  const kept = {
    id: '4111111111111111',
    reservation_id: 4012888888881881,
    confirmationNumber: '5555555555554444',
    booking_reference: '378282246310005',
    phone: '+4111111111111111',
    long: '41111111111111111111111',
    hash: 'a4111111111111111b',
    dates: '2026-05-01 2026-05-02 2026-05-03',
    wrong: '4111111111111112',
    other: '9999999999999995',
    amount: 4111111111111.11,
    epoch: '1778889600000',
    url: 'https://hotel.example/rooms/4111111111111111/photo',
    currencyCode: '123',
    locationCode: 4567,
  };
  const text = JSON.stringify(kept);
  assert.equal(clean(text), text);
  assert.equal(withoutCards(Buffer.from(text)).cards, 0);
});

test('keeps the number of a booking beside data about its payment', () => {
  const kept = {
    payment: { guarantee: 'credit card' },
    reservationNumber: '4111111111111111',
    folio_no: 4012888888881881,
  };
  assert.equal(clean(JSON.stringify(kept)), JSON.stringify(kept));
  const cards = { payment: { number: '4111111111111111' }, card: { primaryAccountNumber: '4012888888881881' } };
  assert.equal(withoutCards(Buffer.from(JSON.stringify(cards))).cards, 2);
});

test('finds all of 10,000 planted card numbers', () => {
  let seed = 7;
  const below = (n: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed % n;
  };
  const luhn = (prefix: string, length: number) => {
    let digits = prefix;
    while (digits.length < length - 1) digits += below(10);
    for (let last = 0; last < 10; last++) {
      const all = digits + last;
      const sum = [...all].reverse().reduce((total, digit, i) => {
        const value = Number(digit) * (i % 2 === 0 ? 1 : 2);
        return total + (value > 9 ? value - 9 : value);
      }, 0);
      if (sum % 10 === 0) return all;
    }
    throw new Error('no check digit');
  };
  const keys = ['card_number', 'pan', 'ccNumber', 'notes', 'guarantee', 'comment', 'cardNo'];
  for (let i = 0; i < 10_000; i++) {
    const [prefix, length] = (
      [
        ['4', 16],
        ['51', 16],
        ['37', 15],
        ['6011', 16],
        ['3528', 16],
        ['62', 16],
      ] as const
    )[below(6)] ?? ['4', 16];
    const number = luhn(prefix, length);
    const padding = 'x'.repeat(below(40));
    const text = `{"p":"${padding}","${keys[below(keys.length)]}":"${below(2) ? 'no. ' : ''}${number}"}`;
    assert.ok(!clean(text).includes(number), text);
  }
});
