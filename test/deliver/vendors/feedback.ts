import type { Report } from '../../../src/terms.ts';
import type { Received, Reply } from '../http-server.ts';
import { demand, isDate, isInstant, split } from './account.ts';

/**
 * How each vendor lists who unsubscribed, bounced or complained, as it documents it: parameters, the form of a row, and paging. The lists
 * also hold rows that mean nothing.
 */
type Listing = (
  request: Received,
  path: string,
  query: URLSearchParams,
  reports: readonly Report[],
) => Reply | undefined;

const iso = (at: number) => new Date(at).toISOString();

/** One page of rows, and where the next one begins; undefined at the end. */
function paged<Row>(rows: readonly Row[], from: number, size: number): { page: readonly Row[]; next?: number } {
  const end = from + size;
  return { page: rows.slice(from, end), ...(end < rows.length && { next: end }) };
}

function since(text: string | null): number {
  demand(isInstant(text), `a time in UTC: ${text}`);
  return Date.parse(text ?? '');
}

const hubspot: Listing = (_, path, query, reports) => {
  if (path !== '/email/public/v1/subscriptions/timeline') return undefined;
  demand(/^\d{12,13}$/.test(query.get('startTimestamp') ?? '') && Number(query.get('limit')) <= 1000, 'parameters');
  const changes = {
    unsubscribed: { change: 'UNSUBSCRIBED', changeType: 'SUBSCRIPTION_STATUS', subscriptionId: 123 },
    bounced: { change: 'BOUNCED', changeType: 'PORTAL_BOUNCE' },
    complained: { change: 'REPORTED_SPAM', changeType: 'SUBSCRIPTION_SPAM_REPORT' },
  };
  const others = [
    { change: 'SUBSCRIBED', changeType: 'PORTAL_STATUS' },
    { change: 'UNSUBSCRIBED', changeType: 'SUBSCRIPTION_STATUS', subscriptionId: 999 },
  ];
  const rows = [
    ...reports.map(({ email, says, at }) => ({ timestamp: at, recipient: email, changes: [changes[says]] })),
    { timestamp: Date.now(), recipient: 'content@guests.example', changes: others },
  ].filter(({ timestamp }) => timestamp >= Number(query.get('startTimestamp')));
  const { page, next } = paged(rows, Number(query.get('offset') ?? 0), Number(query.get('limit')));
  // After the last page it still names an offset, each time another one.
  const offset = next?.toString() ?? `end${Number(/\d+$/.exec(query.get('offset') ?? '')?.[0] ?? 0) + 1}`;
  return { status: 200, body: { hasMore: next !== undefined, offset, timeline: page } };
};

const klaviyo: Listing = ({ headers }, path, query, reports) => {
  const form =
    /^greater-or-equal\(subscriptions\.email\.marketing\.suppression\.timestamp,(.*)\)$/.exec(
      query.get('filter') ?? '',
    ) ?? undefined;
  if (path !== '/api/profiles' || form === undefined) return undefined;
  demand(query.get('additional-fields[profile]') === 'subscriptions' && headers.revision !== undefined, 'fields');
  demand(Number(query.get('page[size]')) <= 100, 'size');
  // The reasons that its description lists: EmailMarketingSuppression.
  const reasons = {
    unsubscribed: ['UNSUBSCRIBE', 'USER_SUPPRESSED'],
    bounced: ['HARD_BOUNCE', 'INVALID_EMAIL'],
    complained: ['SPAM_COMPLAINT'],
  };
  const rows = reports
    .filter(({ at }) => at >= since(form[1] ?? null))
    .map(({ email, says, at }, i) => {
      const suppression = [{ reason: reasons[says][i % reasons[says].length], timestamp: iso(at) }];
      return { type: 'profile', attributes: { email, subscriptions: { email: { marketing: { suppression } } } } };
    });
  const { page, next } = paged(rows, Number(query.get('page[cursor]') ?? 0), 100);
  query.set('page[cursor]', String(next));
  const link = next === undefined ? null : `http://${headers.host}${path}?${query}`;
  return { status: 200, body: { data: page, links: { self: '', next: link } } };
};

const mailchimp: Listing = (_, path, query, reports) => {
  if (path !== '/3.0/lists/L1/members') return undefined;
  const status = query.get('status');
  demand((status === 'unsubscribed' || status === 'cleaned') && Number(query.get('count')) <= 1000, 'parameters');
  const rows = reports
    .filter(
      ({ says, at }) => (says === 'bounced') === (status === 'cleaned') && at >= since(query.get('since_last_changed')),
    )
    .map(({ email, says, at }) => ({
      email_address: email,
      status,
      last_changed: iso(at).replace('Z', '+00:00'),
      ...(says === 'complained' && { unsubscribe_reason: 'N/A (Abuse Complaint)' }),
    }));
  const { page } = paged(rows, Number(query.get('offset') ?? 0), Number(query.get('count')));
  return { status: 200, body: { members: page } };
};

const braze: Listing = ({ method }, path, query, reports) => {
  const isBounces = path === '/email/hard_bounces';
  if (!isBounces && path !== '/email/unsubscribes') return undefined;
  const [from, to] = [query.get('start_date') ?? '', query.get('end_date') ?? ''];
  demand(
    method === 'GET' && isDate(from) && isDate(to) && from < to && Number(query.get('limit')) <= 500,
    'parameters',
  );
  const rows = reports
    .filter(({ says, at }) => (says === 'bounced') === isBounces && iso(at) >= from && iso(at) < to)
    .map(({ email, at }) => ({ email, [isBounces ? 'hard_bounced_at' : 'unsubscribed_at']: iso(at) }));
  const { page } = paged(rows, Number(query.get('offset') ?? 0), Number(query.get('limit')));
  return { status: 200, body: { emails: page, message: 'success' } };
};

const brevo: Listing = ({ method }, path, query, reports) => {
  if (path !== '/v3/contacts' || method !== 'GET') return undefined;
  demand(Number(query.get('limit')) <= 1000, 'limit');
  const rows = [
    ...reports.map(({ email, at }) => ({ email, emailBlacklisted: true, modifiedAt: iso(at) })),
    { email: 'content@guests.example', emailBlacklisted: false, modifiedAt: iso(Date.now()) },
  ].filter(({ modifiedAt }) => Date.parse(modifiedAt) >= since(query.get('modifiedSince')));
  const { page } = paged(rows, Number(query.get('offset') ?? 0), Number(query.get('limit')));
  return { status: 200, body: { contacts: page, count: rows.length } };
};

const salesforce: Listing = (_, path, query, reports) => {
  const [, later] = /\/query\/(\w+)-(\d+)$/.exec(path) ?? [];
  const q = later === undefined ? (query.get('q') ?? '') : decodeURIComponent(Buffer.from(later, 'hex').toString());
  const form =
    /^SELECT Email,(?:HasOptedOutOfEmail,SystemModstamp|EmailBouncedDate) FROM Contact WHERE (.*)>=(\S+)$/.exec(q);
  if (form === null) return undefined;
  const isBounces = form[1] === 'EmailBouncedDate';
  const rows = reports
    .filter(({ says, at }) => (says === 'bounced') === isBounces && at >= since(form[2] ?? null))
    .map(({ email, at }) => ({
      Email: email,
      ...(isBounces ? { EmailBouncedDate: iso(at) } : { HasOptedOutOfEmail: true, SystemModstamp: iso(at) }),
    }));
  const { page, next } = paged(rows, Number(/-(\d+)$/.exec(path)?.[1] ?? 0), 300);
  const nextRecordsUrl = `/services/data/v61.0/query/${Buffer.from(encodeURIComponent(q)).toString('hex')}-${next}`;
  return {
    status: 200,
    body: { done: next === undefined, records: page, ...(next !== undefined && { nextRecordsUrl }) },
  };
};

const dynamics: Listing = ({ headers }, path, query, reports) => {
  const form = /^\(donotbulkemail eq true or donotemail eq true\) and modifiedon ge (\S+)$/.exec(
    query.get('$filter') ?? '',
  );
  if (path !== '/api/data/v9.2/contacts' || form === null) return undefined;
  const rows = reports
    .filter(({ at }) => at >= since(form[1] ?? null))
    .map(({ email, at }) => ({ emailaddress1: email, donotbulkemail: true, donotemail: false, modifiedon: iso(at) }));
  const { page, next } = paged(rows, Number(query.get('$skiptoken') ?? 0), 500);
  query.set('$skiptoken', String(next));
  const link = next === undefined ? {} : { '@odata.nextLink': `http://${headers.host}${path}?${query}` };
  return { status: 200, body: { value: page, ...link } };
};

const listings: Readonly<Record<string, Listing>> = { hubspot, klaviyo, mailchimp, braze, brevo, salesforce, dynamics };

/** The answer to a request for the vendor's reports; undefined for any other request. */
export function feedbackAnswer(preset: string, request: Received, reports: readonly Report[]): Reply | undefined {
  const { path, query } = split(request.path);
  return listings[preset]?.(request, path, query, reports);
}
