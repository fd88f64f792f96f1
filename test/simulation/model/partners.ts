import type { Admission, Asking, PartnerStore } from '../../../src/intake/pull/ports.ts';
import type { Link } from './link.ts';
import type { PartnerApi, StoreModel } from './state.ts';

const threshold = 5;
const longestCooldownMs = 900_000;
const probeMs = 60_000;

/** What all nodes share about partners; the rules are those of store/runs/partner-circuits.ts, rates.ts and partner-states.ts. */
export function partnersModel(model: StoreModel, link: Link): PartnerStore {
  return {
    admit: (api, integration, asking) => link.call('admit', () => admit(model, api, integration, asking)),
    succeeded: (api) =>
      link.call('succeeded', () => {
        const found = model.partnerApis.get(api);
        if (found === undefined || found.state === 'open') return;
        Object.assign(found, { state: 'closed', failures: 0, cooldownMs: 0, until: 0 });
      }),
    failed: (api, cooldownMs) =>
      link.call('failed', () => {
        const found = apiOf(model, api);
        const wasProbing = found.state === 'probing';
        const opens = found.state === 'closed' && found.failures + 1 >= threshold;
        found.failures += 1;
        if (wasProbing) found.cooldownMs = Math.min(found.cooldownMs * 2, longestCooldownMs);
        else if (opens) found.cooldownMs = cooldownMs;
        if (wasProbing || opens) found.until = model.now() + found.cooldownMs;
        if (wasProbing || found.failures >= threshold) found.state = 'open';
      }),
    pause: (integration, ms) =>
      link.call('pause', () => {
        const until = model.now() + ms;
        model.retryAt.set(integration, Math.max(model.retryAt.get(integration) ?? 0, until));
      }),
    authFailed: () => link.call('authFailed', () => {}),
    authWorked: () => link.call('authWorked', () => {}),
  };
}

function apiOf(model: StoreModel, api: string): PartnerApi {
  const known = model.partnerApis.get(api);
  if (known) return known;
  const made: PartnerApi = { state: 'closed', failures: 0, cooldownMs: 0, until: 0, nextSlotAt: 0 };
  model.partnerApis.set(api, made);
  return made;
}

function admit(model: StoreModel, api: string, integration: string, { hasWaited, rate, mostMs }: Asking): Admission {
  const restMs = Math.ceil((model.retryAt.get(integration) ?? 0) - model.now());
  if (restMs > 0 && !hasWaited) return { kind: 'wait', ms: restMs, reason: 'retry_after' };
  const found = model.partnerApis.get(api);
  const isClosed = found === undefined || found.state === 'closed';
  const isClean = isClosed && (found?.failures ?? 0) === 0;
  if (!isClosed) {
    const untilMs = Math.ceil(found.until - model.now());
    if (untilMs > 0) {
      const ms = found.state === 'probing' ? Math.min(untilMs, 1_000) : untilMs;
      return { kind: 'wait', ms, reason: 'breaker' };
    }
    found.state = 'probing';
    found.until = model.now() + probeMs;
  }
  if (rate !== undefined) {
    const everyMs = rate.perMs / rate.requests;
    const slots = apiOf(model, api);
    slots.nextSlotAt = Math.max(slots.nextSlotAt, model.now()) + everyMs;
    const waitMs = Math.max(0, Math.ceil(slots.nextSlotAt - model.now() - everyMs * rate.burst));
    if (waitMs > mostMs) slots.nextSlotAt -= everyMs;
    if (waitMs > 0) return { kind: 'wait', ms: waitMs, reason: 'rate' };
  }
  return { kind: 'go', clean: isClean };
}
