import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countProgress } from '../../src/operator/cli/progress.ts';

function set(isTerminal: boolean) {
  let at = 0;
  let text = '';
  const progress = countProgress({ write: (more) => (text += more), isTerminal, columns: 30 }, () => at);
  return { progress, wait: (ms: number) => (at += ms), text: () => text };
}

test('on a terminal one line is redrawn and removed at the end', () => {
  const { progress, wait, text } = set(true);
  progress.show(0, 1_200, 'delivered');
  progress.show(1, 1_200, 'delivered');
  wait(100);
  progress.show(600, 1_200, 'delivered');
  progress.end();
  assert.equal(text(), '\r\u001b[2K0 of 1,200 records delivered \r\u001b[2K600 of 1,200 records delivere\r\u001b[2K');
});

test('elsewhere there is a line every five seconds', () => {
  const { progress, wait, text } = set(false);
  progress.show(0, 2, 'delivered');
  wait(5_000);
  progress.show(1, 2, 'delivered');
  wait(4_999);
  progress.show(2, 2, 'delivered');
  progress.end();
  assert.equal(text(), '1 of 2 records delivered (50 %)\n');
});
