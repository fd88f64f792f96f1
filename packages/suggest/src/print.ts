import { Document, isMap, isScalar, isSeq, type YAMLMap } from 'yaml';
import type { JsonObject } from '../../../src/terms.ts';
import type { FieldLine } from './section.ts';
import type { Suggestion } from './suggest.ts';

/** The proposal as a connector file: each line with its confidence and reason, and the unmapped paths at the end. */
export function suggestionYaml({ connector, fields, unmapped, unknown }: Suggestion & { kind: 'ok' }): string {
  const request = {
    field: 'pull.request',
    text: ' A response does not show its request: set method, path and parameters.',
  };
  const head =
    ' Proposed from a sample: check every line before you use it. The number is the confidence of the guess, from 0 to 1.';
  return annotated(connector, [request, ...fields.map(remarkOf)], head, [
    ...(unknown.length === 0
      ? []
      : [` Statuses that only the partner can explain, to add to values.status: ${unknown.join(', ')}`]),
    ...(unmapped.length === 0 ? [] : [' Not mapped:', ...unmapped.map((path) => `   ${path}`)]),
  ]);
}

/** A comment for a field: `guests.email` is in `map.guests.fields`; paths that start with pull or shape are places of the document. */
interface Remark {
  readonly field: string;
  readonly text: string;
}

export const remarkOf = ({ field, confidence, reason }: FieldLine): Remark => ({
  field,
  text: ` ${confidence.toFixed(2)} ${reason}`,
});

/** A document with a comment for each remark whose field it has. */
export function annotated(
  connector: JsonObject,
  remarks: readonly Remark[],
  head: string,
  tail: readonly string[],
): string {
  const document = new Document(connector, { aliasDuplicateObjects: false });
  document.commentBefore = head;
  for (const { field, text } of remarks) annotate(document, field, text);
  if (tail.length > 0) document.comment = tail.join('\n');
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

function annotate(document: Document, field: string, text: string): void {
  const path = field.split('.');
  const [first = '', name] = path;
  if (field === 'pull.request.window') {
    comment([document.getIn(['pull', 'request'], true)], ['query', 'body'], text);
  } else if (first === 'pull' || first === 'shape') {
    comment([document.getIn(path.slice(0, -1), true)], path.slice(-1), text);
  } else if (name === undefined) {
    comment([document.get('map', true)], [first], text);
  } else {
    const section = document.getIn(['map', first], true);
    const parts = isSeq(section) ? section.items : [section];
    comment(
      parts.map((part) => (isMap(part) ? part.get('fields', true) : undefined)),
      [name],
      text,
    );
  }
}

/** Beside a short value, above a long one: at the first of the keys in the first part that has one without a comment. */
function comment(parts: readonly unknown[], keys: readonly string[], text: string): void {
  const pairs = parts.flatMap((part) => (isMap(part) ? (part as YAMLMap).items : []));
  const named = pairs.filter(({ key }) => isScalar(key) && keys.includes(String(key.value)));
  const places = named.map(({ key, value }) =>
    isScalar(value) ? { value } : { key: isScalar(key) ? key : undefined },
  );
  const free = places.find(({ key, value }) => !key?.commentBefore && !value?.comment) ?? places[0];
  if (free?.value) free.value.comment = text;
  else if (free?.key) free.key.commentBefore = free.key.commentBefore ? `${free.key.commentBefore}\n${text}` : text;
}
