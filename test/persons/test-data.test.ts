import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { normalizeGuest } from '../../src/core/normalize/normalize.ts';
import { isTestGuest } from '../../src/core/persons/test-data.ts';

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
  { first_name: 'Dummy', last_name: 'Guest', email: 'desk@hotel.example' },
  { first_name: 'Testgast', last_name: 'Hotel', email: 'desk@hotel.example' },
  { first_name: 'Prueba', last_name: 'Prueba', email: 'desk@hotel.example' },
  { last_name: 'TEST, TEST', email: 'desk@hotel.example' },
  { first_name: 'Ana', last_name: 'Exemplo', email: 'test+1@mail.example' },
];
const people: Guest[] = [
  {},
  { first_name: 'Ana', last_name: 'Exemplo', email: 'ana@guests.example', phone: '+351912345678' },
  { first_name: 'Zoltan', last_name: 'Test', email: 'zoltan@mail.example' },
  { last_name: 'Test', email: 'z@mail.example' },
  { first_name: 'Guest', last_name: 'User', email: 'g@mail.example' },
  { first_name: 'Ana', last_name: 'Exemplo', email: 'ana@mail.example', phone: '+1111111111' },
  { first_name: 'Anna', last_name: 'Test-Müller', email: 'anna@mail.example' },
  { first_name: 'Paul', last_name: 'Tester', email: 'tester@mail.example' },
  { first_name: 'Maria', last_name: 'Test', email: 'test@mail.example' },
  { first_name: 'Jean', last_name: 'Teste', email: 'jean@mail.example' },
  { first_name: 'Lucia', last_name: 'Testa', email: 'lucia.testa@mail.example' },
  { first_name: 'Erika', last_name: 'Mustermann', email: 'erika@mail.example' },
  { first_name: 'John', last_name: 'Doe', email: 'j.doe@mail.example' },
  { first_name: 'Hans', last_name: 'Gast', email: 'gast@mail.example' },
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

// The name Test Test was emptied as a placeholder, and the guest was sent to marketing destinations.
test('they are told apart as they are stored', () => {
  const stored = (guest: Guest) => normalizeGuest(guest, { country: 'PT' }).guest;
  const missed = tests.map(stored).filter((guest) => !isTestGuest(guest));
  assert.deepEqual(
    missed.filter((guest) => guest.email !== undefined || guest.phone !== undefined),
    [],
  );
  assert.deepEqual(people.map(stored).filter(isTestGuest), []);
});
