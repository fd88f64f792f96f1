import { Document, isMap, isScalar, isSeq, stringify, type YAMLMap } from 'yaml';
import type { FieldLine } from '../field.ts';
import type { Proposal } from './propose.ts';

/** Most fields of a large description are not mapped: list no more than fit on a screen. */
const mostUnmapped = 60;

/** The proposal as a connector's file, every line with how sure it is and why; the integration's part follows as a comment. */
export function proposalYaml(proposal: Proposal & { kind: 'ok' }): string {
  const { connector, integration, fields, unmapped, unknown, notes, operations } = proposal;
  const document = new Document(connector, { aliasDuplicateObjects: false });
  document.commentBefore = [
    ' Proposed from an API description: read every line before you use it. The numbers say how sure each guess is.',
    ...(operations.length > 1
      ? [
          ` Other operations that list reservations: ${operations
            .slice(1)
            .map(({ operation }) => operation)
            .join(', ')}.`,
        ]
      : []),
  ].join('\n');
  for (const line of fields) annotate(document, line);
  const auth = fields.find(({ field }) => field === 'auth');
  const left = unmapped.slice(0, mostUnmapped);
  document.comment = [
    ' For the integration:',
    ...(auth === undefined ? [] : [` ${auth.confidence.toFixed(2)} ${auth.reason}`]),
    ...stringify(integration, { lineWidth: 0 })
      .trimEnd()
      .split('\n')
      .map((line) => `   ${line}`),
    ...notes.map((note) => ` ${note}`),
    ...(unknown.length === 0 ? [] : [` Statuses to add to values.status: ${unknown.join(', ')}`]),
    ...(left.length === 0 ? [] : [' Not mapped:', ...left.map((path) => `   ${path}`)]),
    ...(unmapped.length > left.length ? [`   and ${unmapped.length - left.length} more`] : []),
  ].join('\n');
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

/** `guests.email` is in `map.guests.fields`; paths that start with pull or shape are places of the document. */
function annotate(document: Document, { field, confidence, reason }: FieldLine): void {
  const text = ` ${confidence.toFixed(2)} ${reason}`;
  const path = field.split('.');
  const [first = '', name] = path;
  if (first === 'auth') return;
  if (field === 'pull.request.window') {
    comment(document.getIn(['pull', 'request'], true), ['query', 'body'], text);
  } else if (first === 'pull' || first === 'shape') {
    comment(document.getIn(path.slice(0, -1), true), path.slice(-1), text);
  } else if (name === undefined) {
    comment(document.get('map', true), [first], text);
  } else {
    const section = document.getIn(['map', first], true);
    const parts = (isSeq(section) ? section.items : [section]).map((part) =>
      isMap(part) ? part.get('fields', true) : undefined,
    );
    comment(
      parts.find((part) => isMap(part) && part.has(name)),
      [name],
      text,
    );
  }
}

/** Beside a short value, above a long one; on the first of the keys that exists. */
function comment(parent: unknown, keys: readonly string[], text: string): void {
  if (!isMap(parent)) return;
  const pair = (parent as YAMLMap).items.find((one) => isScalar(one.key) && keys.includes(String(one.key.value)));
  if (pair === undefined) return;
  if (isScalar(pair.value)) pair.value.comment = text;
  else if (isScalar(pair.key))
    pair.key.commentBefore = pair.key.commentBefore ? `${pair.key.commentBefore}\n${text}` : text;
}
