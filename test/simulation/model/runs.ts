import type { Brand } from '../../../src/core/brand/brand.ts';
import { decodeRecord } from '../../../src/core/canonical/reservation.ts';
import type { Handover } from '../../../src/core/deliver/handover.ts';
import type { Lease, Queued, QueueRequest, RunStore } from '../../../src/core/intake/pull/ports.ts';
import {
  type Counters,
  type KnownRow,
  noCounts,
  type PageCommit,
  type Run,
  sum,
} from '../../../src/core/intake/pull/run/run-state.ts';
import type { RunId } from '../../../src/terms.ts';
import type { Link } from './link.ts';
import { type RunRow, recordKey, type StoreModel } from './state.ts';
import { take } from './take.ts';
import { Transaction } from './transaction.ts';

/** Flat lists, whose rows are staged, and the follow-up of reservations that a list no longer shows are not modelled. */
export function runsModel(model: StoreModel, link: Link, handover: Handover): RunStore {
  const held = (lease: Lease): RunRow | undefined => {
    const row = model.runs.find(({ run }) => run.runId === lease.runId);
    return row?.fence === lease.fence && row.state === 'running' ? row : undefined;
  };
  const whileHeld = (name: string, lease: Lease, change: (row: RunRow) => void): Promise<boolean> =>
    link.call(name, () => {
      const row = held(lease);
      if (row) change(row);
      return row !== undefined;
    });
  return {
    queue: (request, claim) => link.call('queue', () => queue(model, request, claim)),
    claimDue: (most, _node, leaseMs) =>
      link.call('claimDue', () =>
        model.runs
          .filter(({ dueAt }) => dueAt !== undefined && dueAt <= model.now())
          .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
          .slice(0, most)
          .map((row) => claimRow(model, row, leaseMs)),
      ),
    claim: (_integration, runId, _node, leaseMs) =>
      link.call('claimRun', () => {
        const row = model.runs.find(({ run }) => run.runId === runId);
        const isFree = row?.state === 'queued' || (row?.state === 'running' && (row.dueAt ?? 0) <= model.now());
        return row && isFree ? claimRow(model, row, leaseMs) : undefined;
      }),
    extend: (lease, leaseMs, waiting) =>
      whileHeld('extendRun', lease, (row) => {
        row.dueAt = model.now() + leaseMs;
        setWaiting(row, waiting);
      }),
    start: (lease, position, { connectorVersion, integrationVersion }) =>
      whileHeld('start', lease, (row) => {
        const { requests, retries, waitedMs } = row.counters;
        row.position = position;
        row.versions = { connectorVersion, integrationVersion };
        row.counters = { ...noCounts, requests, retries, waitedMs };
        row.pages.length = 0;
      }),
    commitPosition: (lease, position) =>
      whileHeld('commitPosition', lease, (row) => {
        row.position = position;
      }),
    commitPage: (lease, leaseMs, commit, target, pagesBefore) =>
      commitPage({ model, link, handover, held }, lease, leaseMs, commit, target, pagesBefore),
    known: (target, rows) =>
      link.call('known', () =>
        rows.flatMap(({ key, listed }) => {
          const row = model.records.get(recordKey(target.integration, key));
          return row?.listed === listed ? [{ key, listed, id: key }] : [];
        }),
      ),
    windowPages: (lease, window, pass) =>
      link.call('windowPages', () => {
        const row = model.runs.find(({ run }) => run.runId === lease.runId);
        const pages = (row?.pages ?? []).filter(
          (page) => page.window.from === window.from && page.window.to === window.to,
        );
        const current = pages.filter((page) => page.pass === pass);
        return {
          marks: current.map(({ mark }) => mark),
          fingerprints: current.map(({ fingerprint }) => fingerprint),
          seen: pages
            .filter(({ seen }) => seen.length > 0)
            .map(({ seen, pass: its }) => ({ bytes: bytesOf(seen), isCurrent: its === pass })),
        };
      }),
    staged: () => link.call('staged', () => []),
    commitFormed: () => Promise.reject(new TypeError('flat lists are not modelled')),
    unlisted: () => link.call('unlisted', () => ({ missing: [], expected: 0 })),
    noteUnlisted: () => link.call('noteUnlisted', () => {}),
    storedReservation: (integration, id) =>
      link.call('storedReservation', () => {
        const row = model.records.get(recordKey(integration, id));
        return row && decodeRecord('reservation', row.text);
      }),
    storedRooms: () => link.call('storedRooms', () => new Map()),
    receivedElsewhere: () => link.call('receivedElsewhere', () => undefined),
    park: (lease, counted, { afterMs, waiting, position }) =>
      whileHeld('park', lease, (row) => {
        row.state = 'queued';
        row.dueAt = model.now() + afterMs;
        setWaiting(row, waiting);
        row.counters = sum(row.counters, counted);
        if (position) row.position = position;
      }),
    finish: (lease, end, counted) =>
      whileHeld('finish', lease, (row) => {
        row.state = end.state;
        row.dueAt = undefined;
        setWaiting(row, undefined);
        row.counters = sum(row.counters, counted);
        row.end = {
          ...(end.code !== undefined && { errorCode: end.code }),
          ...(end.message !== undefined && { errorMessage: end.message }),
        };
        if (end.watermark !== undefined) {
          model.watermarks.set(`${row.run.integration} ${row.run.sync ?? 'backfill'}`, end.watermark);
        }
      }),
    get: (_integration, runId) =>
      link.call('get', () => {
        const row = model.runs.find(({ run }) => run.runId === runId);
        return (
          row && {
            state: row.state,
            counters: row.counters,
            ...(row.position && { position: row.position }),
            ...(row.waiting && { waiting: row.waiting }),
            ...row.end,
          }
        );
      }),
    watermark: (integration, sync) => link.call('watermark', () => model.watermarks.get(`${integration} ${sync}`)),
  };
}

function queue(
  model: StoreModel,
  { integration, sync, kind, from, to }: QueueRequest,
  claim: { readonly node: string; readonly leaseMs: number } | undefined,
): Queued {
  const going = model.runs.find(
    ({ run, state }) =>
      run.integration === integration && run.sync === sync && (state === 'queued' || state === 'running'),
  );
  if (going) return { kind: 'busy', runId: going.run.runId };
  const row: RunRow = {
    run: {
      integration,
      runId: model.nextId('run') as RunId,
      sync,
      kind,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    },
    state: claim ? 'running' : 'queued',
    fence: claim ? 1 : 0,
    dueAt: model.now() + (claim?.leaseMs ?? 0),
    counters: noCounts,
    pages: [],
  };
  model.runs.push(row);
  return { kind: 'queued', run: runOf(row) };
}

function claimRow(model: StoreModel, row: RunRow, leaseMs: number): Run {
  row.state = 'running';
  row.fence += 1;
  row.dueAt = model.now() + leaseMs;
  setWaiting(row, undefined);
  return runOf(row);
}

function setWaiting(row: RunRow, waiting: RunRow['waiting'] | undefined): void {
  if (waiting === undefined) delete row.waiting;
  else row.waiting = waiting;
}

function runOf({ run, state, fence, counters, position, versions }: RunRow): Run {
  return { ...run, state, fence, counters, ...(position && { position }), ...versions };
}

interface PageContext {
  readonly model: StoreModel;
  readonly link: Link;
  readonly handover: Handover;
  readonly held: (lease: Lease) => RunRow | undefined;
}

class Fenced extends Error {}

/** One transaction, run again while another one changed the same rows in between. */
async function commitPage(
  { model, link, handover, held }: PageContext,
  lease: Lease,
  leaseMs: number,
  commit: PageCommit,
  target: Brand,
  pagesBefore: number,
): Promise<Counters | 'fenced'> {
  const write = async () => {
    for (;;) {
      const tx = await link.begin(() => new Transaction(model));
      const outgoing = handover.begin();
      try {
        const counters = await link.call('applyPage', () => {
          const isMoved = ({ id, listed }: KnownRow) => tx.record(target.integration, id)?.listed !== listed;
          const moved = new Set(commit.known.filter(isMoved).map(({ key }) => key));
          const late = moved.size === 0 ? undefined : commit.readLate(moved);
          const statements = [...commit.statements, ...(late?.statements ?? [])];
          const { outcomes: _, ...tally } = take(model, tx, target, statements, {
            unchanged: commit.known.length - moved.size,
            outgoing,
          });
          const unchanged = commit.known.filter(({ key }) => !moved.has(key)).map(({ id }) => id);
          tx.atCommit(() => {
            if (unchanged.length === 0) return;
            const { requestedAt } = commit;
            model.sightings.push({ integration: target.integration, requestedAt, ids: new Set(unchanged) });
          });
          const counted = late ? sum(commit.counted, late.counted) : commit.counted;
          const all = { ...counted, ...tally };
          return { ...all, fetched: all.fetched + unchanged.length, unchanged: all.unchanged + unchanged.length };
        });
        tx.atCommit(() => {
          const row = held(lease) as RunRow;
          row.dueAt = model.now() + leaseMs;
          row.position = commit.position;
          row.counters = sum(row.counters, counters);
          row.pages.push(commit.log);
          setWaiting(row, undefined);
        });
        const isOurs = () => held(lease)?.counters.pages === pagesBefore;
        const result = await link.call('commit', () => tx.commit(isOurs));
        if (result === 'refused') throw new Fenced();
        if (result === 'conflict') continue;
        outgoing.send();
        return counters;
      } finally {
        tx.rollBack();
      }
    }
  };
  return write().catch((error: unknown) => {
    if (error instanceof Fenced) return 'fenced';
    throw error;
  });
}

const bytesOf = (seen: Uint8Array): Uint8Array => new Uint8Array(seen.buffer, seen.byteOffset, seen.byteLength);
