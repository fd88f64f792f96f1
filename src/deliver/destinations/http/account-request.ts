import { limitOf, type Values, valuesOf, withValues } from './compile-operation.ts';
import type { Limits } from './pace.ts';
import { type Preset, presets } from './preset.ts';
import type { Request, Requested } from './request.ts';
import { type Settings, timeoutMs } from './settings.ts';
import { compileLine, type Scope } from './template.ts';

/** Requests about a vendor's account as a whole, outside any delivery: what is prepared there, and what it reports. */
export interface AccountRequests {
  readonly preset: Preset | undefined;
  readonly values: Values;
  send(method: string, url: string, scope: Scope, body?: string, signal?: AbortSignal): Promise<Requested>;
}

export function accountRequests(settings: Settings, request: Request): AccountRequests {
  const preset = settings.preset === undefined ? undefined : presets.get(settings.preset);
  const limit = limitOf(preset?.limit, preset?.limits ?? {});
  return {
    preset,
    values: valuesOf(settings, preset),
    send(method, url, scope, body, signal = new AbortController().signal) {
      const deadlineMs = timeoutMs(settings);
      const limits: Limits = {
        batch: 1,
        deadlineMs,
        leaseLeftMs: () => Number.POSITIVE_INFINITY,
        extend: async () => true,
        prepaid: { requests: 0 },
        signal,
      };
      const own = Object.entries(preset?.headers ?? {}).flatMap(([name, value]) => {
        const filled = compileLine(value)(scope);
        return filled === undefined ? [] : [[name, filled]];
      });
      const json = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) };
      const headers = { ...json, ...Object.fromEntries(own) };
      return request({ method, url, headers, ...(body !== undefined && { body }) }, limits, [], limit);
    },
  };
}

/** An address: values of `with` as they are, all others encoded. */
export function accountUrl(text: string, scope: Scope): string {
  const filled = withValues(text, scope.with as Values);
  return compileLine(filled, encodeURIComponent)(scope) ?? filled;
}
