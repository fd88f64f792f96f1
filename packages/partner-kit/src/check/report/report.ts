import type { Outcome, RuleResult } from '../rule.ts';

/** A request as the report shows it, without credentials or guest data. */
export interface ShownRequest {
  readonly number: number;
  readonly purpose: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: number;
  readonly failure?: string;
  readonly ms: number;
  readonly content_type: string;
  readonly excerpt: string;
}

export interface Report {
  readonly kind: 'api' | 'sender';
  readonly target: string;
  readonly checked_at: string;
  /** passed: nothing failed. Advice does not count. */
  readonly passed: boolean;
  readonly summary: Readonly<Record<Outcome, number>>;
  readonly rules: readonly RuleResult[];
  readonly requests: readonly ShownRequest[];
}

export function reportOf(
  kind: Report['kind'],
  target: string,
  checkedAt: string,
  rules: readonly RuleResult[],
  seen: readonly (Omit<ShownRequest, 'failure' | 'content_type'> & {
    readonly failure?: string | undefined;
    readonly contentType: string;
  })[],
): Report {
  const summary: Record<Outcome, number> = { pass: 0, fail: 0, advice: 0, skip: 0 };
  for (const { outcome } of rules) summary[outcome] += 1;
  const requests = seen.map(
    ({ number, purpose, method, url, headers, status, failure, ms, contentType, excerpt }): ShownRequest => ({
      number,
      purpose,
      method,
      url,
      headers,
      status,
      ...(failure === undefined ? {} : { failure }),
      ms,
      content_type: contentType,
      excerpt,
    }),
  );
  return {
    kind,
    target,
    checked_at: checkedAt,
    passed: summary.fail === 0 && summary.pass > 0,
    summary,
    rules,
    requests,
  };
}
