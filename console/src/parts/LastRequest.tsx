import type { RunDetail } from '../api/types.ts';
import { Card } from './basics.tsx';

export type Sent = NonNullable<RunDetail['last_request']>;

/** The last request to the partner as it was sent, and the beginning of the answer. */
export function LastRequest({ sent }: { sent: Sent }) {
  const { method, url, headers, body, status, duration_ms: ms, failure, answer } = sent;
  const lines = [
    `${method} ${url}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['', body]),
    '',
    status === undefined ? `No answer: ${failure}` : `${status} after ${Math.round(ms ?? 0)} ms`,
    ...(answer ? [answer] : []),
  ];
  return (
    <Card title="Last request" aside="without credentials; the answer without values (…)">
      <pre className="json">{lines.join('\n')}</pre>
    </Card>
  );
}
