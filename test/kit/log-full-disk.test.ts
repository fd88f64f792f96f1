import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDestination, openLog } from '../../src/kit/log.ts';

test('a full disk under the log does not end the process', async () => {
  const log = openLog('info', openDestination('/dev/full'));
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);
  process.on('uncaughtException', note);
  for (let i = 0; i < 100; i++) log.info({ i }, 'a line that cannot be written');
  await new Promise(setImmediate);
  process.off('uncaughtException', note);
  assert.deepEqual(uncaught, []);
});
