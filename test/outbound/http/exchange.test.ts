import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Dispatcher } from 'undici';
import { HttpExchange } from '../../../src/core/outbound/http/exchange.ts';

const mebibyte = 1024 * 1024;
const controller = { pause: () => {}, resume: () => {}, abort: () => {} } as unknown as Dispatcher.DispatchController;

/** An answer of so many mebibytes, and how many turns of the event loop passed while it was joined. */
async function received(size: number) {
  const exchange = new HttpExchange(() => Number.POSITIVE_INFINITY);
  exchange.onResponseStart(controller, 200, {});
  for (let i = 0; i < size * 16; i++) exchange.onResponseData(controller, Buffer.alloc(mebibyte / 16, i % 251));
  exchange.onResponseEnd();
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const { bytes } = await exchange.response;
  isOver = true;
  return { bytes, turns };
}

test('a big answer is joined in many turns, so that others are served meanwhile', async () => {
  const { bytes, turns } = await received(24);
  assert.ok(turns >= 10, `${turns} turns`);
  assert.equal(bytes.length, 24 * mebibyte);
  for (let i = 0; i < 24 * 16; i++) assert.equal(bytes[(i * mebibyte) / 16 + i], i % 251);
  assert.equal(bytes.buffer.byteLength, bytes.length, 'a buffer of its own, which can be given to another thread');
});

test('a small one at once', async () => {
  assert.equal((await received(1)).turns, 0);
});
