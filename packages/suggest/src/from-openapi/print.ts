import { stringify } from 'yaml';
import { annotated, remarkOf } from '../print.ts';
import type { Proposal } from './propose.ts';

/** Most fields of a large description are not mapped: list no more than fit on a screen. */
const mostUnmapped = 60;

/** The proposal as a connector's file, every line with how sure it is and why; the integration's part follows as a comment. */
export function proposalYaml(proposal: Proposal & { kind: 'ok' }): string {
  const { connector, integration, fields, unmapped, unknown, notes, operations } = proposal;
  const head = [
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
  const auth = fields.find(({ field }) => field === 'auth');
  const left = unmapped.slice(0, mostUnmapped);
  const remarks = fields.filter(({ field }) => field !== 'auth').map(remarkOf);
  return annotated(connector, remarks, head, [
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
  ]);
}
