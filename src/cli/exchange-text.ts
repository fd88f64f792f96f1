import type { ShownExchange } from '../outbound/ask/exchange.ts';

/** A request and the beginning of its answer, in lines. */
export function exchangeText({
  method,
  url,
  headers,
  body,
  status,
  duration_ms,
  failure,
  answer,
}: ShownExchange): string {
  const result = status === undefined ? `no answer: ${failure}` : `${status} in ${Math.round(duration_ms ?? 0)} ms`;
  return [
    `last request: ${method} ${url}`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    ...(body === undefined ? [] : [`  ${body}`]),
    `  → ${result}${answer ? `: ${answer.replace(/\s+/g, ' ').slice(0, 300)}` : ''}`,
  ].join('\n');
}
