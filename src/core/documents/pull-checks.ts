import { syncTypes } from '../../terms.ts';
import { readStatus } from '../canonical/values.ts';
import { additionChecks } from './addition-checks.ts';

import type { Connector } from './connector.ts';
import type { Integration } from './integration.ts';
import type { LoadedDocument } from './kinds.ts';
import type { CheckFinding, DocumentCheck } from './mistake.ts';
import type { Path } from './path.ts';
import { placeholderNames } from './placeholders.ts';
import { dayOffset, durationMs } from './units.ts';

/** Checks of pulling that need an integration together with its connector, or with other integrations. */
export const pullChecks: DocumentCheck = ({ connectors, integrations }) => {
  const all = [...integrations.values()];
  return [
    ...sameProperty(all),
    ...sameAnswer(all, connectors),
    ...all.flatMap((integration) => sharedPoll(integration, integrations, connectors)),
    ...all
      .filter(({ body }) => body.stream && body.pull === undefined)
      .map(({ name }) => inIntegration(name, ['stream'], withoutPull)),
    ...all.flatMap((integration) => {
      const connector = connectors.get(integration.body.connector)?.body;
      const ofStream = connector?.stream ? streamMistakes(integration, connector) : [];
      if (connector?.pull === undefined || integration.body.pull === undefined) return ofStream;
      return [
        ...ofStream,
        ...hiddenCancellations(integration, connector),
        ...incompleteSyncs(integration, connector),
        ...manyRequests(integration, connector),
        ...additionChecks(integration, connector),
      ];
    }),
  ];
};

const withoutPull = 'a stream needs a pull section: its address and credentials are those of pull';

const inIntegration = (name: string, path: Path, message: string, severity?: 'warning'): CheckFinding => ({
  document: { kind: 'integration', name },
  path,
  message,
  severity,
});

/** What the stream of the connector needs from the integration. */
function streamMistakes({ name, body }: LoadedDocument<'integration'>, connector: Connector): CheckFinding[] {
  if (body.stream === undefined) {
    if (body.push.enabled || body.pulled_by !== undefined) return [];
    const isOnly = connector.pull?.request === undefined;
    const message = isOnly
      ? `the events of ${body.connector} come by its stream, and nothing else brings reservations: add a stream section with its key and chain`
      : `${body.connector} has a stream, which this brand does not read: add a stream section to get its events`;
    return [inIntegration(name, ['connector'], message, isOnly ? undefined : 'warning')];
  }
  const used = placeholderNames(connector.stream);
  return Object.entries({ key: 'key', 'key.sha256': 'key', chain: 'chain' } as const)
    .filter(([placeholder, setting]) => used.includes(placeholder) && body.stream?.[setting] === undefined)
    .map(([placeholder, setting]) => {
      const message = `the connector ${body.connector} sends {${placeholder}} to its stream: set stream.${setting}`;
      return inIntegration(name, ['stream'], message);
    });
}

/** Without push, a cancellation is only seen if some sync asks for it. */
function hiddenCancellations({ name, body }: LoadedDocument<'integration'>, connector: Connector): CheckFinding[] {
  const syncs = Object.entries(body.pull?.syncs ?? {}).flatMap(([type, sync]) => (sync ? [{ type, ...sync }] : []));
  if (body.push.enabled || body.stream || syncs.length === 0) return [];
  if (!placeholderNames(connector.pull?.request).includes('sync.status')) return [];
  const asksForAll = syncs.some(({ status }) => status === undefined || [status].flat().some(isCancelled(connector)));
  if (asksForAll) return [];
  const message =
    'every sync filters by status and none asks for cancelled reservations: a cancelled booking would stay as it was. Remove the status of one sync, or add the partner’s word for cancelled';
  return [inIntegration(name, ['pull', 'syncs', syncs[0]?.type ?? '', 'status'], message, 'warning')];
}

function isCancelled({ values }: Connector): (status: string) => boolean {
  const spellings = [(values?.status as Record<string, unknown> | undefined)?.cancelled ?? []].flat();
  return (status) => readStatus(status) === 'cancelled' || spellings.includes(status);
}

/** Two brands that read the same property would both deliver its reservations. */
function sameProperty(integrations: readonly LoadedDocument<'integration'>[]): CheckFinding[] {
  const first = new Map<string, string>();
  return integrations.flatMap(({ name, body }) => {
    if (body.pull === undefined) return [];
    const key = JSON.stringify([body.connector, addressOf(body.pull), body.brand_id]);
    const other = first.getOrInsert(key, name);
    if (other === name) return [];
    const message = `${other} already reads brand_id ${body.brand_id} from this base_url with the same connector; its reservations would arrive twice. Correct brand_id or base_url, or remove one`;
    return [inIntegration(name, ['brand_id'], message)];
  });
}

/**
 * Two brands whose lists are requested with the same account and nothing that names the brand get the same answer. A brand whose rules drop
 * reservations may keep only its own.
 */
function sameAnswer(
  integrations: readonly LoadedDocument<'integration'>[],
  connectors: Parameters<DocumentCheck>[0]['connectors'],
): CheckFinding[] {
  const first = new Map<string, Integration>();
  return integrations.flatMap(({ name, body }) => {
    const connector = connectors.get(body.connector)?.body;
    if (body.pull === undefined || connector?.pull === undefined || !listsWithoutBrand(connector)) return [];
    if (body.transforms.some(({ drop }) => drop === true)) return [];
    const { auth, query, body: sent, headers } = body.pull;
    const key = JSON.stringify([body.connector, addressOf(body.pull), auth, query, sent, headers]);
    const other = first.getOrInsert(key, body);
    if (other.brand_id === body.brand_id) return [];
    const message = `gets the same reservations as ${other.integration}: both use the same base_url and credentials, and the connector ${body.connector} sends no {brand_id}. Send {brand_id} in pull.request, or name the property of a row with pull.property and use pulled_by: ${other.integration}`;
    return [inIntegration(name, ['brand_id'], message)];
  });
}

function listsWithoutBrand({ pull }: Connector): boolean {
  const lists = [pull?.request, ...Object.values(pull?.requests ?? {})].filter((one) => one !== undefined);
  return lists.length > 0 && pull?.property === undefined && !placeholderNames(lists).includes('brand_id');
}

function addressOf({ base_url: text }: NonNullable<Integration['pull']>): string {
  const url = URL.parse(text);
  return (url === null ? text : `${url.origin}${url.pathname.replace(/\/+$/, '')}`).toLowerCase();
}

/** A brand that is polled together with another one. */
function sharedPoll(
  { name, body }: LoadedDocument<'integration'>,
  integrations: Parameters<DocumentCheck>[0]['integrations'],
  connectors: Parameters<DocumentCheck>[0]['connectors'],
): CheckFinding[] {
  if (body.pulled_by === undefined) return [];
  const finding = (message: string): CheckFinding[] => [inIntegration(name, ['pulled_by'], message)];
  const other = integrations.get(body.pulled_by);
  const connector = connectors.get(body.connector)?.body;
  if (other === undefined) return finding(`there is no integration ${body.pulled_by}`);
  if (body.pull !== undefined) return finding('the brand also has a pull section; remove one of the two');
  if (other.body.pull === undefined) return finding(`${body.pulled_by} does not pull; name the integration that does`);
  if (other.body.connector !== body.connector) {
    return finding(`${body.pulled_by} uses the connector ${other.body.connector}; both must use the same one`);
  }
  if (connector?.pull?.property === undefined) {
    return finding('the connector does not say where a row names its property; add pull.property to it');
  }
  const sameBrand = [...integrations.values()].find(
    (one) =>
      one.name !== name &&
      one.body.brand_id === body.brand_id &&
      (one.name === body.pulled_by || one.body.pulled_by === body.pulled_by),
  );
  if (sameBrand !== undefined) return finding(`${sameBrand.name} has the same brand_id; rows could belong to either`);
  return [];
}

/** A sync needs a list, and a range if its request sends days. */
function incompleteSyncs({ name, body }: LoadedDocument<'integration'>, connector: Connector): CheckFinding[] {
  const { request, requests } = connector.pull ?? {};
  const listless = syncTypes.filter((type) => body.pull?.syncs[type] && !(requests?.[type] ?? request));
  const rangeless = syncsByDays(body, connector).filter(({ range }) => range === undefined);
  const noList = 'the connector describes no list to poll: add pull.request to it, or remove the sync';
  const noRange = 'range is missing: the connector’s request asks for days ({window.…})';
  return [
    ...listless.map((type) => inIntegration(name, ['pull', 'syncs', type], noList)),
    ...rangeless.map(({ type }) => inIntegration(name, ['pull', 'syncs', type, 'range'], noRange)),
  ];
}

const dayMs = 86_400_000;
const manyPerHour = 60;
/** The 90 nights that the page of a hotel shows take 13. */
const manyPerPoll = 14;

/** A long range cut into short windows means many requests at every poll; the partner should know before it sees them. */
function manyRequests({ name, body }: LoadedDocument<'integration'>, connector: Connector): CheckFinding[] {
  const { pull } = connector;
  if (pull === undefined || pull.window === 'none') return [];
  const stepDays = Math.min(7, durationMs(pull.window.step) / dayMs);
  return syncsByDays(body, connector).flatMap(({ type, every, range }) => {
    if (range === undefined) return [];
    const requests = Math.ceil((dayOffset(range[1]) - dayOffset(range[0]) + 1) / stepDays);
    const perHour = Math.round((requests * 3_600_000) / durationMs(every));
    if (requests < manyPerPoll && perHour < manyPerHour) return [];
    const message = `means at least ${requests} requests at every poll (${perHour} per hour), one per window of ${stepDays === 1 ? '1 day' : `${stepDays} days`}, before paging. ${fewerRequests(stepDays)}`;
    return [inIntegration(name, ['pull', 'syncs', type, 'range'], message, 'warning')];
  });
}

/** The syncs whose request sends days. A list without dates, or by modification time alone, is one request, whatever the range. */
function syncsByDays({ pull: own }: Integration, { pull }: Connector) {
  return syncTypes.flatMap((type) => {
    const sync = own?.syncs[type];
    const request = pull?.requests[type] ?? pull?.request;
    const asksByDays = placeholderNames(request).some((name) => name.startsWith('window.'));
    return sync !== undefined && asksByDays ? [{ type, ...sync }] : [];
  });
}

/** Only advice that can be followed: a window has at most seven days. */
function fewerRequests(stepDays: number): string {
  if (stepDays < 7) return 'Shorten the range, raise window.step of the connector, or set pull.rate';
  return 'Shorten the range, poll less often (every: 60m), ask only for changes ({since} with window: none) if the partner can, or set pull.rate';
}
