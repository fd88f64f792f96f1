import { afterFailure, type CircuitSettings, type FailedCall, type Rate } from '../../../src/core/outbound/circuit.ts';
import { healthyRemote, type Remote, type StoreModel } from './state.ts';

/** Circuits, rates and pauses; the rules are those of store/remotes.ts. */

export function remoteOf(model: StoreModel, key: string): Remote {
  const known = model.remotes.get(key) ?? { ...healthyRemote };
  model.remotes.set(key, known);
  return known;
}

export function noteFailure(model: StoreModel, key: string, failure: FailedCall, settings: CircuitSettings) {
  const remote = remoteOf(model, key);
  const { cooldownMs, ...circuit } = afterFailure(remote, failure, settings);
  Object.assign(remote, circuit, { probeAt: cooldownMs === null ? 0 : model.now() + cooldownMs });
  return circuit;
}

/** True if something was failing. */
export function noteAnswer(model: StoreModel, key: string): boolean {
  const remote = model.remotes.get(key);
  if (remote === undefined || remote.failures === 0) return false;
  Object.assign(remote, { state: 'closed', failures: 0, probeAt: 0 });
  return true;
}

export function takeProbe(model: StoreModel, key: string, leaseMs: number): boolean {
  const remote = remoteOf(model, key);
  if (remote.state === 'closed' || remote.probeAt > model.now()) return false;
  Object.assign(remote, { state: 'probing', probes: remote.probes + 1, probeAt: model.now() + leaseMs });
  return true;
}

export function releaseProbe(model: StoreModel, key: string): void {
  const remote = remoteOf(model, key);
  if (remote.state !== 'probing') return;
  Object.assign(remote, { state: 'open', probes: remote.probes - 1, probeAt: model.now() });
}

export function takeCalls(
  model: StoreModel,
  key: string,
  { everyMs, burst }: Rate,
  wanted: number,
  mostMs = 0,
): { granted: number; waitMs: number } {
  const remote = remoteOf(model, key);
  const base = Math.max(remote.nextAt, model.now());
  const aheadMs = base - model.now();
  const most = Math.floor(burst - (aheadMs - mostMs) / everyMs + 0.001);
  const granted = Math.max(Math.min(wanted, 0), Math.min(wanted, most));
  remote.nextAt = base + granted * everyMs;
  return { granted, waitMs: Math.max(0, Math.ceil(aheadMs - (burst - 1) * everyMs)) };
}
