import assert from 'node:assert/strict';
import type { PullPorts } from '../../../../src/core/intake/pull/ports.ts';
import type { Run } from '../../../../src/core/intake/pull/run/run-state.ts';
import type { IntegrationName } from '../../../../src/terms.ts';
import { listPage, pagination, replyOf, type Style } from './list.ts';
import { type Asked, arriving, bookings, type Reply, type ScriptedPartner } from './partner.ts';
import { type PullSetUp, setUpPulls } from './set-up.ts';

export const range = { from: '2026-03-01', to: '2026-03-14' };
export const book = bookings(140, range.from, 10);

export interface Backfills extends Pick<PullSetUp, 'runtime'> {
  /** A partner that lists the book in the given style, unless `on` answers instead. */
  partnerOf(
    style: Style,
    on?: (asked: Asked) => Reply | undefined | Promise<Reply | undefined>,
    tellsTotal?: boolean,
  ): Promise<ScriptedPartner>;
  scripted: PullSetUp['partnerOf'];
  portsFor(integration: string, style: Style, baseUrl: string, more?: Partial<PullPorts>): PullPorts;
  /** A backfill of the range, claimed by a first node. */
  claimed(ports: PullPorts, integration: string): Promise<Run>;
}

/** Runs of many pages over two weeks. */
export function setUpBackfills(): Backfills {
  const { runtime, partnerOf: scripted } = setUpPulls();
  return {
    runtime,
    scripted,
    partnerOf: (style, on = () => undefined, tellsTotal = false) =>
      scripted(async (asked) => {
        const list = arriving(book, asked);
        return (await on(asked)) ?? replyOf(listPage(style, list, asked, tellsTotal ? { total: list.length } : {}));
      }),
    portsFor: (integration, style, baseUrl, more = {}) =>
      runtime.ports({ integration, baseUrl, connector: { pull: { pagination: pagination[style] } } }, more),
    claimed: async (ports, integration) => {
      const queued = await ports.runs.queue(
        { integration: integration as IntegrationName, kind: 'backfill', requestedBy: 'test', ...range },
        { node: 'first', leaseMs: 60_000 },
      );
      assert.ok(queued.kind === 'queued');
      return queued.run;
    },
  };
}
