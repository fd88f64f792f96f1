import type { FastifyRequest } from 'fastify';
import type { Buckets } from '../intake/push/bucket.ts';
import { endOf } from '../operations/onboarding.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { findLinkOf } from '../store/operate/onboarding.ts';
import { consoleHeader, type Identified, isServedOverHttps } from './caller.ts';
import { browserOf } from './cookies.ts';

/** For each browser: a page that looks every second needs one request a second, and its buttons a few more. */
export const partnerRate = { perSecond: 4, burst: 40 };

/** Whoever opened the link in the path, in this browser; undefined for everybody else. */
export async function identifyPartner(
  request: FastifyRequest,
  runtime: Runtime,
  rates: Buckets,
): Promise<Identified | undefined> {
  const { link_id: linkId = '' } = request.params as { readonly link_id?: string };
  const browser = browserOf(request.headers.cookie ?? '', isServedOverHttps(runtime), linkId);
  const link = browser && (await findLinkOf(runtime.pool, linkId, browser));
  if (!link) return undefined;
  const ended = endOf(link);
  if (ended !== undefined) {
    return { kind: 'refused', status: 410, code: 'operate.link_ended', detail: `The link is ${ended}.` };
  }
  if (request.method !== 'GET' && request.headers[consoleHeader] === undefined) {
    const detail = `A request that changes data must have the header ${consoleHeader}.`;
    return { kind: 'refused', status: 403, code: 'operate.forbidden', detail };
  }
  const wait = rates.take(browser, runtime.clock.now());
  if (wait.kind === 'wait') {
    const detail = 'Too many requests from this browser.';
    return { kind: 'wait', status: 429, code: 'operate.busy', detail, seconds: wait.seconds };
  }
  const name = `${link.partner} (onboarding)`;
  const caller = { tokenId: linkId, grantId: linkId, name, integrations: [link.integration] };
  return { kind: 'known', caller: { ...caller, role: 'partner', kind: 'session' }, link };
}
