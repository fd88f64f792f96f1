import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { readExamples } from '../../scripts/mapping-examples.ts';
import { toReservation } from '../../src/core/canonical/check.ts';
import { encodeRecord } from '../../src/core/canonical/reservation.ts';
import { reservationSchema } from '../../src/core/canonical/schema.ts';
import { mapSchema, pushMapSchema, shapeSchema, valuesSchema } from '../../src/core/documents/connector-mapping.ts';
import { singleSchema } from '../../src/core/documents/connector-request.ts';
import type { RawRecord, ShapeConfig } from '../../src/core/shape/config.ts';
import { compilePushShape, compileShape, compileSingleShape, type Shaper } from '../../src/core/shape/shape.ts';
import { parseJson } from '../../src/kit/json.ts';
import type { Json } from '../../src/terms.ts';

const mappingSchema = z.strictObject({
  shape: shapeSchema.optional(),
  map: mapSchema.optional(),
  values: valuesSchema.optional(),
  unknown_status: z.enum(['dead_letter', 'other']).optional(),
  pull: z.strictObject({ single: singleSchema }).optional(),
  push: z.strictObject({ map: pushMapSchema }).optional(),
});

/** Required fields that an example leaves out. */
const rest = { id: 'R0', check_in: '2026-05-01', check_out: '2026-05-04', status: 'confirmed' };

for (const example of readExamples()) {
  test(`example ${example.file}: ${example.title}`, () => {
    const {
      pull,
      push,
      unknown_status: unknownStatus = 'dead_letter',
      ...mapping
    } = mappingSchema.parse(parse(example.mapping));
    const config: ShapeConfig = { ...mapping, timezone: example.timezone, unknownStatus };
    const compiled =
      example.form === 'event'
        ? compilePushShape(config, push?.map)
        : example.form === 'single'
          ? compileSingleShape(config, pull?.single.map ?? {})
          : compileShape(config);
    assert.ok(compiled.kind === 'ok', JSON.stringify(compiled));
    const { records, total } = recordsOf(compiled.shaper, parseJson(example.input), example.form === 'list');
    if (example.total !== undefined) assert.equal(total, example.total);

    const notes = new Set<string>();
    const drift: string[] = [];
    const made = records.flatMap((raw) => {
      const draft = compiled.shaper.draft(raw);
      if (draft.isExcluded) return [];
      for (const note of draft.notes) notes.add(note.code);
      for (const one of draft.drift) drift.push(`${one.field} ${one.value}`);
      const given = Object.fromEntries(Object.entries(draft.record).filter(([, value]) => value !== undefined));
      const status = 'status_raw' in given ? {} : { status: rest.status };
      const checked = toReservation({ record: { ...rest, ...status, ...given } });
      assert.ok(checked.kind === 'ok', JSON.stringify(checked));
      reservationSchema.parse(checked.reservation);
      return [parseJson(encodeRecord(checked.reservation)) as { [key: string]: Json }];
    });

    const expected = parseJson(example.output) as { [key: string]: Json }[];
    const seen = made.map((record, index) =>
      Object.fromEntries(Object.keys(expected[index] ?? record).map((key) => [key, record[key]])),
    );
    assert.deepEqual(seen, expected);
    assert.deepEqual([...notes], example.notes);
    assert.deepEqual(drift, example.drift);
    for (const key of example.absent) assert.ok(made.every((record) => !(key in record)));
  });
}

function recordsOf(shaper: Shaper, body: Json, list: boolean): { records: RawRecord[]; total?: number } {
  const found = list ? shaper.records(body) : shaper.single(body);
  assert.ok(found.kind === 'ok', JSON.stringify(found));
  return 'record' in found ? { records: [found.record] } : found;
}
