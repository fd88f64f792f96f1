import type { Admission, AskedAdmission, AskedPartners } from '../../../src/core/outbound/ask/ports.ts';
import { partnerCircuit } from '../../../src/core/outbound/circuit.ts';
import type { Link } from './link.ts';
import { noteAnswer, noteFailure, takeCalls, takeProbe } from './remotes.ts';
import type { StoreModel } from './state.ts';

const probeMs = 60_000;
const keyOf = (api: string) => `partner ${api}`;

/** What all nodes share about partners; the rules are those of store/runs/partner-accounts.ts. */
export function partnersModel(model: StoreModel, link: Link): AskedPartners {
  return {
    admit: (api, integration, asking) => link.call('admit', () => admit(model, api, integration, asking)),
    succeeded: (api) => link.call('succeeded', () => void noteAnswer(model, keyOf(api))),
    failed: (api, firstMs, message) =>
      link.call('failed', () => {
        noteFailure(model, keyOf(api), { message, unreachable: true, records: [] }, { ...partnerCircuit, firstMs });
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

function admit(
  model: StoreModel,
  api: string,
  integration: string,
  { hasWaited, rate, mostMs }: AskedAdmission,
): Admission {
  const restMs = Math.ceil((model.retryAt.get(integration) ?? 0) - model.now());
  if (restMs > 0 && !hasWaited) return { kind: 'wait', ms: restMs, reason: 'retry_after' };
  const found = model.remotes.get(keyOf(api));
  const isClosed = found === undefined || found.state === 'closed';
  const isClean = isClosed && (found?.failures ?? 0) === 0;
  if (!isClosed) {
    const untilMs = Math.ceil(found.probeAt - model.now());
    if (untilMs > 0) {
      const ms = found.state === 'probing' ? Math.min(untilMs, 1_000) : untilMs;
      return { kind: 'wait', ms, reason: 'breaker' };
    }
    takeProbe(model, keyOf(api), probeMs);
  }
  if (rate !== undefined) {
    const { waitMs } = takeCalls(model, keyOf(api), rate, 1, mostMs);
    if (waitMs > 0) return { kind: 'wait', ms: waitMs, reason: 'rate' };
  }
  return { kind: 'go', clean: isClean };
}
