import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { mapSchema, shapeSchema } from '../../src/core/documents/connector-mapping.ts';
import type { ShapeSection } from '../../src/core/shape/config.ts';
import type { DraftRecord } from '../../src/core/shape/draft.ts';
import type { Json } from '../../src/terms.ts';
import { shaperOf } from './support.ts';

interface Case {
  readonly field: keyof DraftRecord;
  readonly map: Json;
  readonly raw: Json;
  readonly is: Json;
  readonly shape?: ShapeSection;
  readonly body?: Json;
  readonly note?: string;
}

const cases = parse(readFileSync(new URL('cases/fields.yaml', import.meta.url), 'utf8')) as Case[];

for (const { field, map, raw, is, shape, body, note } of cases) {
  test(`field ${JSON.stringify(map)} of ${JSON.stringify(raw)}`, () => {
    const shaper = shaperOf({ shape: shapeSchema.optional().parse(shape), map: mapSchema.parse({ [field]: map }) });
    const { record, notes } = shaper.draft({ key: '', value: raw, ...(body !== undefined && { body }) });
    assert.deepEqual(record[field] ?? null, is);
    assert.deepEqual(
      notes.map(({ code }) => code),
      note === undefined ? [] : [note],
    );
  });
}
