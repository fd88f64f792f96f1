import { isMap, isSeq } from 'yaml';
import { z } from 'zod';
import { closest } from '../../core/canonical/closest.ts';
import { workspaceName } from '../../core/documents/kinds.ts';
import { compileValues } from '../../core/shape/values.ts';
import { unknownSpellings } from '../../core/store/records/drift.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type Edited, editInForce } from './edit-documents.ts';

/** The fields with spellings of the workspace, as drift names them. */
const shared = { channel: 'channel', source: 'source', 'rooms.board': 'board' } as const;
type Field = keyof typeof shared;

export const spelledField = z.enum(Object.values(shared));
export const addedSpelling = z.strictObject({
  field: spelledField,
  value: z.string().min(1).max(200),
  as: z.string().min(1).max(200).describe('The canonical value.'),
});

/** What brands send and nobody knows, with the value of the workspace that looks most like it. Those added since are left out. */
export async function listUnknown(runtime: Runtime) {
  const { spellings = {} } = runtime.active().settings;
  const unknown = await unknownSpellings(runtime.pool, Object.keys(shared));
  return unknown.flatMap(({ field: drifted, ...one }) => {
    const field = shared[drifted as Field];
    const map = spellings[field] ?? {};
    if (compileValues(map)(one.value) !== undefined) return [];
    const known = Object.keys(map);
    return [{ ...one, field, known, likely: closest(one.value.toLowerCase(), known) ?? null }];
  });
}

/** Adds a spelling to innbound.yaml. Rows with it are read again at their next poll. */
export async function addSpelling(
  runtime: Runtime,
  { field, value, as }: z.infer<typeof addedSpelling>,
  by: string,
): Promise<Edited> {
  return editInForce(runtime, { kind: 'workspace', name: workspaceName }, by, (yaml) => {
    if (isMap(yaml.contents)) yaml.contents.flow = false;
    const at = ['spellings', field, as];
    const listed = yaml.getIn(at, true);
    if (isSeq(listed)) listed.add(yaml.createNode(value));
    else yaml.setIn(at, yaml.createNode([...(yaml.hasIn(at) ? [yaml.getIn(at)] : []), value], { flow: true }));
  });
}
