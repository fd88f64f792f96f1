import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requiredBrowser, skipWithoutBrowser } from '../../scripts/prepare-browser.ts';

const nowhere = () => false;

test('without a browser the tests that need one fail and say what to do', () => {
  assert.equal(skipWithoutBrowser({}, nowhere), false);
  assert.throws(() => requiredBrowser({}, nowhere), /no Chromium found.*apt-get install/);
});

test('only an explicit setting skips them, and never in CI', () => {
  const allowed = { INNBOUND_SKIP_BROWSER_TESTS: '1' };
  assert.match(String(skipWithoutBrowser(allowed, nowhere)), /no Chromium found/);
  assert.equal(skipWithoutBrowser({ ...allowed, CI: 'true' }, nowhere), false);
});

test('uses the browser that CHROMIUM names', () => {
  const only = (path: unknown) => path === '/opt/chromium';
  assert.equal(requiredBrowser({ CHROMIUM: '/opt/chromium' }, only), '/opt/chromium');
  assert.equal(skipWithoutBrowser({ CHROMIUM: '/opt/chromium', INNBOUND_SKIP_BROWSER_TESTS: '1' }, only), false);
});
