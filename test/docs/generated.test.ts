import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { alertsFile, alertsText } from '../../scripts/alerts-reference.ts';
import { commandsFile, commandsText } from '../../scripts/command-reference.ts';
import { eventsFile, eventsText } from '../../scripts/events-reference.ts';

for (const [page, file, text] of [
  ['the alerts', alertsFile, alertsText],
  ['the commands', commandsFile, commandsText],
  ['the fields of events', eventsFile, eventsText],
] as const) {
  test(`the page of ${page} is made from the code`, async () => {
    assert.equal(readFileSync(file, 'utf8'), await text(), 'run: npm run generate');
  });
}

test('no default of a command depends on the day on which the page is made', async () => {
  assert.doesNotMatch(await commandsText(), /default `\d{4}-\d\d-\d\d/);
});
