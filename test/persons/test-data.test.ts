import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../src/canonical/reservation.ts';
import { isTestGuest } from '../../src/persons/test-data.ts';

const tests: Guest[] = [
  { first_name: 'Test', last_name: 'Test', email: 'desk@hotel.example' },
  { first_name: 'TEST', last_name: 'Guest 2' },
  { first_name: 'Booking', last_name: 'Test' },
  { first_name: 'Ana', last_name: 'Exemplo', email: 'test@test.com' },
  { first_name: 'Ana', last_name: 'Exemplo', email: 'ana@example.com' },
  { email: 'ana@mail.example.org' },
  { email: 'test12@mail.example' },
  { email: 'ana@hotel.test' },
  { first_name: 'Ana', last_name: 'Exemplo', phone: '+12025550143' },
  { phone: '+1111111111' },
  { phone: '1234567890' },
];
const people: Guest[] = [
  {},
  { first_name: 'Ana', last_name: 'Exemplo', email: 'ana@guests.example', phone: '+351912345678' },
  { first_name: 'Zoltan', last_name: 'Test', email: 'zoltan@mail.example' },
  { last_name: 'Test', email: 'z@mail.example' },
  { first_name: 'Guest', last_name: 'User', email: 'g@mail.example' },
  { first_name: 'Ana', last_name: 'Exemplo', email: 'ana@mail.example', phone: '+1111111111' },
  { email: 'testa@mail.example' },
  { email: 'ana@contest.example' },
  { email: 'ana@bestexample.example' },
];

test('obvious test guests are told from people', () => {
  assert.deepEqual(
    tests.filter((guest) => !isTestGuest(guest)),
    [],
  );
  assert.deepEqual(people.filter(isTestGuest), []);
});
