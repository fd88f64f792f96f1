import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installSteps, requiredBrowser, skipWithoutBrowser } from '../../scripts/prepare-browser.ts';

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

test('a machine without a browser gets one; one with a heavier browser gets the lean one; a chosen one is used as it is', () => {
  const only = (installed: string) => (path: unknown) => path === installed;
  assert.deepEqual(installSteps({}, nowhere), [
    ['update'],
    ['install', '-y', 'chromium-headless-shell'],
    ['install', '-y', 'chromium'],
  ]);
  assert.deepEqual(installSteps({ CHROMIUM: '/opt/missing' }, nowhere).length, 3);
  assert.deepEqual(installSteps({}, only('/usr/bin/chromium')), [['install', '-y', 'chromium-headless-shell']]);
  assert.deepEqual(installSteps({}, only('/usr/bin/chromium-headless-shell')), []);
  assert.deepEqual(installSteps({ CHROMIUM: '/opt/chromium' }, only('/opt/chromium')), []);
});
