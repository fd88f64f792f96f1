/** must: required by the description; a violation loses data. should: recommended; the service can work around it. */
export type Level = 'must' | 'should';

/**
 * pass    the rule holds
 * fail    the rule is broken
 * advice  a should rule is broken
 * skip    could not be tested, with the reason
 */
export type Outcome = 'pass' | 'fail' | 'advice' | 'skip';

export interface Verdict {
  readonly holds: boolean | undefined;
  /** What was observed, without guest data. */
  readonly seen: string;
  /** The number of the request in the report that shows it. */
  readonly request?: number | undefined;
}

export interface Rule<Evidence> {
  /** Stable, such as list.missing_dates. */
  readonly id: string;
  readonly level: Level;
  readonly title: string;
  /** What the partner must change if it is broken. */
  readonly change: string;
  readonly judge: (evidence: Evidence) => Verdict;
}

/** Rules by their ids; one without a level is a must. */
export function ruleTable<Evidence>(
  rules: Readonly<Record<string, Omit<Rule<Evidence>, 'id' | 'level'> & { readonly level?: 'should' }>>,
): Rule<Evidence>[] {
  return Object.entries(rules).map(([id, rule]) => ({ id, level: 'must', ...rule }));
}

export interface RuleResult extends Pick<Rule<never>, 'id' | 'level' | 'title'> {
  readonly outcome: Outcome;
  readonly seen: string;
  /** Only if something must change. */
  readonly change?: string;
  readonly request?: number;
}

export const holds = (seen: string, request?: number): Verdict => ({ holds: true, seen, request });
export const broken = (seen: string, request?: number): Verdict => ({ holds: false, seen, request });
export const unseen = (why: string): Verdict => ({ holds: undefined, seen: why });

export function judge<Evidence>(rule: Rule<Evidence>, evidence: Evidence): RuleResult {
  const verdict = rule.judge(evidence);
  const outcome =
    verdict.holds === undefined ? 'skip' : verdict.holds ? 'pass' : rule.level === 'must' ? 'fail' : 'advice';
  const { id, level, title } = rule;
  return {
    id,
    level,
    title,
    outcome,
    seen: verdict.seen,
    ...(verdict.holds === false ? { change: rule.change } : {}),
    ...(verdict.request === undefined ? {} : { request: verdict.request }),
  };
}
