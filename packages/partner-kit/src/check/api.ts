import { type ClientOptions, PoliteClient } from './client.ts';
import type { Evidence, Target } from './evidence.ts';
import { gather } from './gather.ts';
import { type Report, reportOf } from './report.ts';
import { judge, type Rule } from './rule.ts';
import { callRules } from './rules/calls.ts';
import { pagingRules } from './rules/paging.ts';
import { recordRules } from './rules/records.ts';
import { transportRules } from './rules/transport.ts';

/** How the API behaves, whatever its records look like. */
export const behaviourRules = [...callRules, ...transportRules, ...pagingRules];
export const apiRules = [...behaviourRules, ...recordRules];

export interface ApiCheckOptions extends Target, Omit<ClientOptions, 'auth'> {
  /** Default: all. */
  readonly rules?: readonly Rule<Evidence>[];
}

/** Tests a partner's REST API against the interface description: makes about twenty requests, then judges each rule. */
export async function checkApi(options: ApiCheckOptions): Promise<Report> {
  const { now = Date.now, rules = apiRules } = options;
  const client = new PoliteClient(options);
  const evidence = await gather(options, client);
  const results = rules.map((rule) => judge(rule, evidence));
  return reportOf('api', options.baseUrl, now(), results, client.seen);
}
