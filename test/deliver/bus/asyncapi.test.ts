import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Parser } from '@asyncapi/parser';
import { z } from 'zod';
import { asyncApiFile, asyncApiText } from '../../../scripts/asyncapi.ts';
import { busMessage } from '../../../src/core/deliver/bus/cloud-event.ts';
import { delivery, reservation } from '../support.ts';

test('the published AsyncAPI document is the one of the canonical schema: npm run generate', () => {
  assert.equal(readFileSync(asyncApiFile, 'utf8'), asyncApiText());
});

test('a parser of AsyncAPI accepts it, and finds a mistake', async () => {
  const parser = new Parser();
  const { document, diagnostics } = await parser.parse(asyncApiText());
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 0),
    [],
  );
  assert.equal(document?.allMessages().length, 2);
  const wrong = await parser.parse(asyncApiText().replace('"action": "send"', '"action": "shout"'));
  assert.equal(wrong.document, undefined);
});

test('what is published matches it: body and attributes', () => {
  const { messages, schemas } = JSON.parse(asyncApiText()).components;
  const inline = { ...messages.reservation.payload.properties, data: schemas.Reservation };
  const whole = z.fromJSONSchema({ ...messages.reservation.payload, properties: inline });
  for (const one of [
    delivery(reservation('R-1')),
    delivery(reservation('R-1'), { version: 2, epoch: 2 }),
    delivery({ id: 'R-1' } as never, { event: 'removed', removed: true, version: 3 }),
  ]) {
    const { attributes, body: text } = busMessage(one);
    assert.equal(z.fromJSONSchema(schemas.CloudEvent).safeParse(attributes).error, undefined);
    assert.equal(whole.safeParse(JSON.parse(text)).error, undefined);
  }
  const { event: _, ...without } = JSON.parse(busMessage(delivery(reservation('R-1'))).body);
  assert.equal(whole.safeParse(without).success, false);
});
