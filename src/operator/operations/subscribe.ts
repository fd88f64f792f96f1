import { pullPorts } from '../../composition/pull.ts';
import { sealerOf } from '../../composition/push.ts';
import type { Connector } from '../../core/documents/connector.ts';
import { pathReader } from '../../core/json-path/read.ts';
import { noAskCounts, openAsker } from '../../core/outbound/ask/asking.ts';
import { type OpenRequest, openRequest } from '../../core/outbound/ask/request.ts';
import { loadEndpoints } from '../../core/store/events/endpoints.ts';
import { InnboundError } from '../../errors.ts';
import { urlPart } from '../../kit/plain-url.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { IntegrationName, Json } from '../../terms.ts';
import { addressFor } from './endpoints.ts';

type Subscription = NonNullable<NonNullable<Connector['push']>['subscription']>;

/**
 * Makes the partner send its events to the brand's endpoint. Nothing about it is stored: the partner lists what it has, and ours are
 * those with our address. So it may be repeated at any time, and after a rotation it replaces the address with the earlier secret. `removed`:
 * subscriptions of this endpoint that were ended, doubles and those with an earlier secret.
 */
export async function subscribe(runtime: Runtime, integration: string) {
  const api = await openSubscriptions(runtime, integration);
  const listed = await api.list();
  // A secret that the partner keeps cannot be compared: the subscription is renewed.
  const present = api.keepsSecret ? undefined : listed.find(({ url }) => url === api.url);
  if (present === undefined) await api.ask('POST', '', { body: true });
  const others = listed.filter((one) => one !== present);
  for (const { id } of others) await api.ask('DELETE', `/${urlPart(id)}`);
  return { result: present === undefined ? 'created' : 'exists', removed: others.length } as const;
}

export async function unsubscribe(runtime: Runtime, integration: string) {
  const api = await openSubscriptions(runtime, integration);
  const listed = await api.list();
  for (const { id } of listed) await api.ask('DELETE', `/${urlPart(id)}`);
  return { result: 'none', removed: listed.length } as const;
}

async function openSubscriptions(runtime: Runtime, integration: string) {
  const ports = pullPorts(runtime);
  const { connector, body } = runtime.active().integrations.get(integration) ?? {};
  const how = connector?.body.push?.subscription;
  if (how === undefined || body === undefined) {
    const message = `The connector of ${integration} does not say how to subscribe (push.subscription). Enter the URL at the partner.`;
    throw new InnboundError('operate.invalid_input', message);
  }
  const planned = await ports.plan(integration as IntegrationName);
  if (planned.kind === 'unavailable') throw new InnboundError(planned.code, planned.message);
  const { plan } = planned;
  const { url: plain, endpoint_id } = await addressFor(runtime, integration);
  const [endpoint] = await loadEndpoints(runtime.pool, sealerOf(runtime), [endpoint_id]);
  const secret = endpoint?.secrets[0]?.secret ?? '';
  const proof = connector?.body.push?.verification;
  const url = proof?.type === 'token' && proof.query ? `${plain}?${proof.query}=${encodeURIComponent(secret)}` : plain;
  const values = { url, secret, brand_id: body.brand_id };
  const signal = new AbortController().signal;
  const asker = openAsker(ports, plan, { parkable: true, atOpenCircuit: () => 'fail', signal });
  const ask = async (method: OpenRequest['method'], at = '', { body: hasBody = false } = {}) => {
    const template = { method: 'POST', path: how.path + at, body: how.body, encoding: 'json' } as const;
    const { body: filled, ...open } = openRequest(template, how.base_url ?? plan.settings.base_url, values);
    const request = { ...open, method, ...(hasBody && { body: filled ?? {} }) };
    const asked = await asker.ask(request, { canShrink: false, firstPage: true, counts: noAskCounts() });
    if (asked.kind === 'answer') return asked.body;
    const failure =
      'code' in asked ? asked : ({ code: 'pull.rate_limited', message: 'the partner asks to wait' } as const);
    throw new InnboundError(failure.code, `${method} ${how.path} at the partner: ${failure.message}.`);
  };
  const list = async () => ours(how, (await ask('GET')) ?? [], plain);
  return { url, list, ask, keepsSecret: JSON.stringify(how.body).includes('{secret}') };
}

/** The listed subscriptions whose address is this endpoint, with any secret. */
function ours(how: Subscription, answer: Json, plain: string): { readonly id: string; readonly url: string }[] {
  const rows = how.root_path === undefined ? answer : pathReader(how.root_path)(answer);
  const [idOf, urlOf] = [pathReader(how.id), pathReader(how.url)];
  return (Array.isArray(rows) ? rows : [])
    .map((row) => ({ id: String(idOf(row) ?? ''), url: String(urlOf(row) ?? '') }))
    .filter(({ id, url }) => id !== '' && url.split('?')[0] === plain);
}
