import type { Runtime } from '../../runtime/runtime.ts';
import type { AlertRow, Concern } from '../store/alerts.ts';
import { isOfDestination, sharedText } from '../watch/causes.ts';

/** What concerns these brands; undefined for a caller who may see everything. */
export function concernOf(runtime: Runtime, within: readonly string[] | undefined): Concern | undefined {
  if (within === undefined) return undefined;
  const { integrations } = runtime.active();
  const fed = within.flatMap((name) => integrations.get(name)?.body.deliver ?? []);
  return { integrations: within, destinations: [...new Set(fed)] };
}

/** The brands that an alert concerns if it is not of one brand: those that share it, those that feed its destination, or all. */
export function brandsConcerned(
  runtime: Runtime,
  alert: { readonly kind: string; readonly subject: string; readonly brands: readonly string[] | null },
): readonly string[] {
  const { kind, subject, brands } = alert;
  const isOfAll = kind === 'role_missing';
  if (brands !== null || !(isOfAll || isOfDestination(kind))) return brands ?? [];
  const all = [...runtime.active().integrations.values()];
  return all.filter(({ body }) => isOfAll || body.deliver.includes(subject)).map(({ integration: name }) => name);
}

/** The message of an alert for callers who may see only some of its brands: its own message names or counts others. */
export function limitedMessage(
  alert: Pick<AlertRow, 'kind' | 'subject' | 'message'> & { readonly brands: number | null },
): string {
  if (alert.brands !== null) return sharedText(alert.kind, alert.brands);
  return alert.kind === 'destination_failing' ? `${alert.subject} is failing.` : alert.message;
}

/** The whole alert for such callers. `brands` is how many share it. */
export function limitedAlert<Alert extends AlertRow & { readonly brands: number | null }>({
  brands,
  ...alert
}: Alert): AlertRow {
  const message = limitedMessage({ ...alert, brands });
  if (message === alert.message) return alert;
  return { ...alert, message, detail: brands === null ? {} : { brands } };
}
