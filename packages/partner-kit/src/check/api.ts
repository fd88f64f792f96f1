import { type ClientOptions, PoliteClient, type Seen } from './client.ts';
import type { Evidence } from './evidence.ts';
import { gather } from './gather.ts';
import { type Report, reportOf } from './report/report.ts';
import { judge, type Rule } from './rule.ts';
import { callRules } from './rules/calls.ts';
import { pagingRules } from './rules/paging.ts';
import { recordRules } from './rules/records.ts';
import { transportRules } from './rules/transport.ts';
import type { Target } from './target.ts';

/** How the API behaves, whatever its records look like. */
export const behaviourRules = [...callRules, ...transportRules, ...pagingRules];
export const apiRules = [...behaviourRules, ...recordRules];

export interface ApiCheckOptions extends Target, Omit<ClientOptions, 'auth' | 'onRequest'> {
  readonly onProgress?: (seen: Seen) => void;
  /** Default: all. */
  readonly rules?: readonly Rule<Evidence>[];
}

/** Tests a partner's REST API against the interface description: makes about twenty requests, then judges each rule. */
export async function checkApi(options: ApiCheckOptions): Promise<Report> {
  const { onProgress, now = Date.now, rules = apiRules } = options;
  const client = new PoliteClient({ ...options, ...(onProgress === undefined ? {} : { onRequest: onProgress }) });
  const evidence = await gather(options, client);
  const results = rules.map((rule) => judge(rule, evidence));
  return reportOf('api', options.baseUrl, new Date(now()).toISOString(), results, client.seen);
}
