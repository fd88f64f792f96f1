import { type ClientOptions, PoliteClient, type Seen } from './client.ts';
import { gather } from './gather.ts';
import { type Report, reportOf } from './report/report.ts';
import { judge } from './rule.ts';
import { callRules } from './rules/calls.ts';
import { pagingRules } from './rules/paging.ts';
import { recordRules } from './rules/records.ts';
import { transportRules } from './rules/transport.ts';
import type { Target } from './target.ts';

export const apiRules = [...callRules, ...transportRules, ...pagingRules, ...recordRules];

export interface ApiCheckOptions extends Target, Omit<ClientOptions, 'auth' | 'onRequest'> {
  readonly onProgress?: (seen: Seen) => void;
}

/** Tests a partner's REST API against the interface description: makes about twenty requests, then judges each rule. */
export async function checkApi(options: ApiCheckOptions): Promise<Report> {
  const { onProgress, now = Date.now } = options;
  const client = new PoliteClient({ ...options, ...(onProgress === undefined ? {} : { onRequest: onProgress }) });
  const evidence = await gather(options, client);
  const results = apiRules.map((rule) => judge(rule, evidence));
  return reportOf('api', options.baseUrl, new Date(now()).toISOString(), results, client.seen);
}
