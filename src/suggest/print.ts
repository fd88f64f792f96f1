import { Document, isMap, isPair, isScalar, isSeq, type YAMLMap } from 'yaml';
import type { FieldLine } from './field.ts';
import type { Suggestion } from './suggest.ts';

/** The proposal as a connector file: each line with its confidence and reason, and the unmapped paths at the end. */
export function suggestionYaml(suggestion: Suggestion & { kind: 'ok' }): string {
  const { connector, fields, unmapped, unknown } = suggestion;
  const document = new Document(connector, { aliasDuplicateObjects: false });
  document.commentBefore =
    ' Proposed from a sample: check every line before you use it. The number is the confidence of the guess, from 0 to 1.';
  const said = new Map<string, FieldLine[]>();
  for (const line of fields) said.set(line.field, [...(said.get(line.field) ?? []), line]);
  const next = (field: string) => said.get(field)?.shift();

  remark(
    document.get('pull', true),
    'request',
    ' A response does not show its request: set method, path and parameters.',
  );
  note(document.get('pull', true), 'pagination', next('pull.pagination'));
  note(document.get('shape', true), 'root_path', next('shape.root_path'));
  note(document.get('shape', true), 'flat', next('shape.flat'));
  note(document.get('shape', true), 'also', next('shape.also'));
  const map = document.get('map', true);
  if (isMap(map)) {
    for (const { key } of map.items) {
      const name = String(isScalar(key) ? key.value : key);
      const list = map.get(name, true);
      for (const part of isSeq(list) ? list.items : [list]) {
        const inner = isMap(part) ? part.get('fields', true) : undefined;
        if (isMap(inner)) for (const pair of inner.items) note(inner, keyOf(pair), next(`${name}.${keyOf(pair)}`));
      }
      note(map, name, next(name));
    }
  }
  const left = [
    ...(unknown.length === 0
      ? []
      : [` Status codes that only the partner can explain; check values.status: ${unknown.join('; ')}`]),
    ...(unmapped.length === 0 ? [] : [' Not mapped:', ...unmapped.map((path) => `   ${path}`)]),
  ];
  if (left.length > 0) document.comment = left.join('\n');
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

function keyOf(pair: unknown): string {
  return isPair(pair) && isScalar(pair.key) ? String(pair.key.value) : '';
}

/** Next to a short value, above a long one. */
function note(parent: unknown, key: string, line: FieldLine | undefined): void {
  if (line !== undefined) remark(parent, key, ` ${line.confidence.toFixed(2)} ${line.reason}`);
}

function remark(parent: unknown, key: string, text: string): void {
  if (!isMap(parent)) return;
  const value = parent.get(key, true);
  if (isScalar(value)) {
    value.comment = text;
    return;
  }
  const pair = (parent as YAMLMap).items.find((one) => keyOf(one) === key);
  if (isScalar(pair?.key)) pair.key.commentBefore = text;
}
