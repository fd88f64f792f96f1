import { Button } from '@mantine/core';
import { call } from '../api/client.ts';
import { useAct } from '../api/query.tsx';
import type { Receipt } from '../api/types.ts';
import { Card, Empty, Notice, RelativeTime, State } from '../parts/basics.tsx';
import { erased } from '../parts/claims.ts';
import { download } from '../parts/download.ts';
import { instant, number, plural, words } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';

/** What an erasure has done: while it runs, when it has ended, and as the proof of it. */

/** The proof as a file: it holds nothing of the guest. */
function Download({ receipt }: { receipt: Receipt }) {
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`Download ${receipt.erasure_id}`}
      onClick={() => download(`${receipt.erasure_id}.json`, JSON.stringify(receipt, null, 2), 'application/json')}
    >
      Download
    </Button>
  );
}

/** Answers a guest who asks whether they were erased. */
export function Proof({ receipts }: { receipts: readonly Receipt[] }) {
  const [last] = receipts;
  if (last === undefined) {
    return (
      <Notice tone="calm" role="status" title="No erasure was requested for this address or number">
        An erasure requested for another address of the same guest has its own receipt.
      </Notice>
    );
  }
  // Only a completed erasure is a proof.
  if (last.state === 'stopped') return <Stopped receipt={last} />;
  if (last.completed_at === null) {
    return (
      <Notice tone="warn" role="status" title={`${stateTexts[last.state]}, receipt ${last.erasure_id}`}>
        The erasure of {instant(last.requested_at)} was not completed.
      </Notice>
    );
  }
  return (
    <Notice
      tone={erased(last).tone}
      role="status"
      title={`${erased(last).text}, ${instant(last.completed_at)}, receipt ${last.erasure_id}`}
    >
      {receipts.length > 1 && `Requested ${receipts.length} times. `}
      The search compared keyed hashes; the address itself is not stored. <Download receipt={last} />
    </Notice>
  );
}

export function notifiedText(notified: Receipt['notified'], isDone: boolean): string {
  const names = (of: Receipt['notified']) => of.map((one) => `${one.destination} (${one.integration})`).join(', ');
  const reached = notified.filter(({ records }) => records > 0);
  const former = notified.filter(({ not_notified }) => not_notified > 0);
  return [
    ...(reached.length > 0 ? [`${isDone ? 'Notified' : 'To be notified'}: ${names(reached)}.`] : []),
    ...(former.length > 0 ? [`No longer delivered to, erase the guest there by hand: ${names(former)}.`] : []),
  ].join(' ');
}

export function Done({ receipt }: { receipt: Receipt }) {
  if (receipt.state === 'stopped') return <Stopped receipt={receipt} />;
  const removed = Object.entries(receipt.removed).filter(([, count]) => count > 0);
  return (
    <Notice tone={erased(receipt).tone} title={`${erased(receipt).text}, receipt ${receipt.erasure_id}`} role="status">
      {removed.length === 0
        ? 'No data of this guest was stored. Data that arrives later is not accepted.'
        : removed.map(([where, count]) => `${number(count)} in ${words(where)}`).join(', ')}
      {receipt.notified.length > 0 && `. ${notifiedText(receipt.notified, !isOpen(receipt))}`}{' '}
      <Download receipt={receipt} />
    </Notice>
  );
}

export const isOpen = ({ state }: Receipt): boolean => state === 'running' || state === 'notifying';

/** Found again after a reload, also by somebody else: anybody who may erase may stop it. */
export function Running({ receipt }: { receipt: Receipt }) {
  const stop = useAct(
    () => call('privacy.stop', { erasure_id: receipt.erasure_id }),
    () => 'Stopping.',
  );
  const { done, of, place } = receipt.progress ?? { done: 0, of: 1, place: 'records' };
  return (
    <Card title="Erasure in progress" aside={receipt.erasure_id}>
      <div className="stack">
        <progress className="progress" max={of} value={done} aria-label="Progress" />
        <p role="status">
          {done === 0
            ? 'Finding the guest’s records. Nothing is erased yet.'
            : `Erased: ${removedText(receipt.removed)}. Searching ${words(place)}, place ${done + 1} of ${of}.`}
        </p>
        <div className="row">
          <Button
            variant="default"
            onClick={() => stop.mutate(undefined)}
            loading={stop.isPending || receipt.stopped_by !== null}
          >
            Stop
          </Button>
          <span className="muted">
            What is erased stays erased. Places that were not searched may still name the guest.
          </span>
        </div>
      </div>
    </Card>
  );
}

function Stopped({ receipt }: { receipt: Receipt }) {
  return (
    <Notice tone="warn" title={`Stopped by ${receipt.stopped_by}, receipt ${receipt.erasure_id}`} role="status">
      {receipt.progress === null
        ? 'Nothing was erased.'
        : `Erased: ${removedText(receipt.removed)}. From ${words(receipt.progress.place)} on nothing was searched. Erase the guest again to finish.`}
    </Notice>
  );
}

/** An erasure is done when every destination has confirmed it. */
const stateTexts = {
  running: 'In progress',
  stopped: 'Stopped',
  interrupted: 'Interrupted, erase again',
  notifying: 'Notifying destinations',
  done: 'Done',
} as const satisfies Record<Receipt['state'], string>;
const stateTones = {
  running: 'running',
  stopped: 'stopped',
  interrupted: 'failed',
  notifying: 'running',
  done: 'done',
};

function Notified({ notified }: { notified: Receipt['notified'][number] }) {
  const { destination, integration, records, confirmed, passed_over, dropped, not_notified, given_up, confirmed_at } =
    notified;
  return (
    <div>
      {destination} <span className="muted">({integration})</span>{' '}
      {confirmed_at ? (
        <>
          confirmed <RelativeTime at={confirmed_at} />
        </>
      ) : (
        [
          ...(records > 0 ? [`${number(confirmed + passed_over)} of ${number(records)}`] : []),
          ...(dropped > 0 ? [`${number(dropped)} dropped`] : []),
          ...(given_up > 0 ? [`${number(given_up)} given up: erase the guest there by hand`] : []),
          ...(not_notified > 0 ? [`${number(not_notified)} no longer delivered: erase the guest there by hand`] : []),
        ].join(', ')
      )}
    </div>
  );
}

export function Receipts({ items, error }: { items: readonly Receipt[] | undefined; error: Error | null }) {
  return (
    <Table
      label="Receipts"
      rows={items}
      error={error}
      rowKey={({ erasure_id }) => erasure_id}
      empty={
        <Empty title="No guest has been erased">Each erasure leaves a receipt here, without the guest’s data.</Empty>
      }
      columns={[
        { head: 'Receipt', kind: 'code', cell: ({ erasure_id }) => erasure_id },
        { head: 'State', cell: ({ state }) => <State of={stateTones[state]} label={stateTexts[state]} /> },
        { head: 'Erased', phone: 'line', cell: ({ removed }) => <span className="small">{removedText(removed)}</span> },
        {
          head: 'Notified',
          cell: ({ notified }) => (
            <div className="small">
              {notified.length === 0
                ? 'no destination'
                : notified.map((one) => <Notified key={`${one.integration} ${one.destination}`} notified={one} />)}
            </div>
          ),
        },
        {
          head: 'Requested',
          cell: ({ requested_at, requested_by }) => (
            <>
              <RelativeTime at={requested_at} /> <span className="muted small">by {requested_by}</span>
            </>
          ),
        },
        { head: 'File', silent: true, cell: (one) => <Download receipt={one} /> },
      ]}
    />
  );
}

export const removedText = (removed: Receipt['removed']): string =>
  Object.entries(removed)
    .filter(([, count]) => count > 0)
    .map(([where, count]) => plural(count, words(where).replace(/s$/, '')))
    .join(', ') || 'nothing was stored';
