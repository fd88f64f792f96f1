import { Button, Modal, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { type Answer, call } from '../api/client.ts';
import { useAct, useApi, usePages } from '../api/query.tsx';
import type { Guest } from '../api/record.ts';
import type { Receipt } from '../api/types.ts';
import { Ago, Card, Empty, Head, Loaded, Notice, State } from '../parts/basics.tsx';
import { erased } from '../parts/claims.ts';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { download } from '../parts/download.ts';
import { instant, number, plural, words } from '../parts/format.ts';
import { Table } from '../parts/Table.tsx';
import { useMay, useSeesAllBrands } from '../shell/session.ts';

interface Whom {
  email?: string;
  phone?: string;
  guest_id?: string;
  integration?: string;
}

/** Exports and erasures of one person, on this page and on the guest's own. */
function usePrivacy() {
  const [whom, setWhom] = useState<Whom>();
  const [receipt, setReceipt] = useState<Receipt>();
  const erase = useAct(
    (asked: Whom) => call('privacy.erase', asked),
    (done) => {
      setReceipt(done);
      return done.state === 'stopped' ? 'The erasure was stopped.' : `${erased(done).text}. The receipt is below.`;
    },
  );
  const take = useAct(
    (asked: Whom) => call('privacy.export', asked),
    (held) => {
      download('guest-export.json', JSON.stringify(held, null, 2), 'application/json');
      return held.records.length + held.payloads.length === 0
        ? 'Nothing is held on this person. The file says so.'
        : `Exported ${plural(held.records.length, 'record')} and ${plural(held.payloads.length, 'payload')}.`;
    },
  );
  const confirm = whom && (
    <Confirm
      whom={whom}
      onClose={() => setWhom(undefined)}
      onErase={() => {
        setWhom(undefined);
        setReceipt(undefined);
        erase.mutate(whom);
      }}
    />
  );
  return { setWhom, receipt, erase, take, confirm };
}

/** For a guest who asks by name: the same, from the guest’s page. */
export function PrivacyCard({ integration, guest }: { integration: string; guest: Guest }) {
  const all = useSeesAllBrands();
  const admin = useMay('admin') && all;
  const { setWhom, receipt, erase, take, confirm } = usePrivacy();
  const { email, phone, guest_id } = guest;
  const whom = email ? { email } : phone ? { phone } : guest_id ? { guest_id, integration } : undefined;
  // After the erasure nothing names the guest any more; the receipt stays.
  if (!admin || (whom === undefined && receipt === undefined)) return null;
  return (
    <Card title="Privacy" aside={<Link to="/privacy">receipts</Link>}>
      <div className="stack">
        {whom && (
          <div className="row">
            <Button variant="default" loading={take.isPending} onClick={() => take.mutate(whom)}>
              Export everything held
            </Button>
            <Button variant="default" loading={erase.isPending} onClick={() => setWhom(whom)}>
              Erase the guest …
            </Button>
          </div>
        )}
        {receipt && <Done receipt={receipt} />}
      </div>
      {confirm}
    </Card>
  );
}

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

export function Privacy() {
  const { setWhom, receipt, erase, take, confirm } = usePrivacy();
  const [hasOpen, setHasOpen] = useState(false);
  const { rows, error, more } = usePages('privacy.list', { limit: 50 }, erase.isPending || hasOpen ? 1_000 : false);
  const isAnyOpen = rows?.some(isOpen) ?? false;
  if (isAnyOpen !== hasOpen) setHasOpen(isAnyOpen);
  const running = rows?.filter(({ state }) => state === 'running') ?? [];
  const [proof, setProof] = useState<readonly Receipt[]>();
  const find = useAct(
    (asked: Whom) => call('privacy.find', asked),
    ({ items }) => {
      setProof(items);
      return undefined;
    },
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('who') ?? '').trim();
    if (text === '') return;
    const asked = text.includes('@') ? { email: text } : { phone: text };
    const pressed = (event.nativeEvent as SubmitEvent).submitter?.getAttribute('name');
    setProof(undefined);
    if (pressed === 'proof') find.mutate(asked);
    else if (pressed === 'export') take.mutate(asked);
    else setWhom(asked);
  };
  return (
    <>
      <Head
        title="Privacy"
        lead="Export everything held on a guest, or erase the guest from records, versions, raw payloads, events, dead letters and queued deliveries. Destinations are notified, and later pulls do not bring the guest back."
      />
      <div className="stack">
        <Card title="Export or erase a guest">
          <form onSubmit={submit} className="filters" style={{ marginBottom: 0 }}>
            <TextInput
              name="who"
              label="E-mail address, or phone with country code"
              required
              style={{ flex: '1 1 280px', maxWidth: 420 }}
            />
            <Button type="submit" variant="default">
              Preview the erasure
            </Button>
            <Button type="submit" variant="default" name="export" loading={take.isPending}>
              Export
            </Button>
            <Button type="submit" variant="default" name="proof" loading={find.isPending}>
              Find a receipt
            </Button>
          </form>
        </Card>
        {running.map((one) => (
          <Running key={one.erasure_id} receipt={one} />
        ))}
        {receipt && <Done receipt={receipt} />}
        {proof && <Proof receipts={proof} />}
        <Card title="Receipts" aside="proof of each erasure" flush>
          <Receipts items={rows} error={error} />
          {more}
        </Card>
      </div>
      {confirm}
    </>
  );
}

function Confirm(props: { whom: Whom; onClose: () => void; onErase: () => void }) {
  const who = props.whom.email ?? props.whom.phone ?? props.whom.guest_id ?? '';
  const found = useApi('privacy.preview', props.whom, { onFocus: false });
  const [typed, setTyped] = useState('');
  return (
    <Modal opened onClose={props.onClose} title="Erase the guest">
      <div className="stack">
        <Loaded query={found}>
          {({ removed, records, told }) => (
            <>
              <p>
                Of <strong>{who}</strong>: {removedText(removed)}. The reservations stay; everything that identifies the
                guest is removed everywhere. It can be stopped while it runs; what is erased by then stays erased.
              </p>
              {records.length > 0 && (
                <ul className="samples">
                  {records.slice(0, 5).map(({ integration, type, id }) => (
                    <li key={`${integration} ${type} ${id}`}>
                      {type} {type === 'guest' ? '' : id} <span className="muted">{integration}</span>
                    </li>
                  ))}
                  {records.length > 5 && <li className="muted">and {number(records.length - 5)} more</li>}
                </ul>
              )}
              {told.length > 0 && <p className="muted">{toldText(told)}</p>}
              <Shared records={records} />
            </>
          )}
        </Loaded>
        <TextInput
          label={`Type ${who} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
        <DialogButtons onCancel={props.onClose}>
          <Button data-danger disabled={typed.trim() !== who} onClick={props.onErase}>
            Erase
          </Button>
        </DialogButtons>
      </div>
    </Modal>
  );
}

/** An address or number that the request names means everybody who has it. */
function Shared({ records }: { records: Answer<'privacy.preview'>['records'] }) {
  const guests = records.filter(({ type }) => type === 'guest');
  const brand = guests.find(({ integration }) => guests.filter((one) => one.integration === integration).length > 1);
  return (
    brand && (
      <Notice tone="warn" title={`Several profiles of ${brand.integration} have this address or number`}>
        All of them are erased. If another person shares it, erase by an address or number of the guest’s own.
      </Notice>
    )
  );
}

/** Answers a guest who asks whether they were erased. */
function Proof({ receipts }: { receipts: readonly Receipt[] }) {
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

function toldText(told: Receipt['told']): string {
  const names = (of: Receipt['told']) => of.map((one) => `${one.destination} (${one.integration})`).join(', ');
  const notified = told.filter(({ records }) => records > 0);
  const former = told.filter(({ not_notified }) => not_notified > 0);
  return [
    ...(notified.length > 0 ? [`Notified: ${names(notified)}.`] : []),
    ...(former.length > 0 ? [`No longer delivered to, erase the guest there by hand: ${names(former)}.`] : []),
  ].join(' ');
}

function Done({ receipt }: { receipt: Receipt }) {
  if (receipt.state === 'stopped') return <Stopped receipt={receipt} />;
  const removed = Object.entries(receipt.removed).filter(([, count]) => count > 0);
  return (
    <Notice tone={erased(receipt).tone} title={`${erased(receipt).text}, receipt ${receipt.erasure_id}`} role="status">
      {removed.length === 0
        ? 'No data of this guest was stored. Data that arrives later is not accepted.'
        : removed.map(([where, count]) => `${number(count)} in ${words(where)}`).join(', ')}
      {receipt.told.length > 0 && `. ${toldText(receipt.told)}`} <Download receipt={receipt} />
    </Notice>
  );
}

const isOpen = ({ state }: Receipt): boolean => state === 'running' || state === 'notifying';

/** Found again after a reload, also by somebody else: anybody who may erase may stop it. */
function Running({ receipt }: { receipt: Receipt }) {
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

function Notified({ told }: { told: Receipt['told'][number] }) {
  const { destination, integration, records, confirmed, passed_over, dropped, not_notified, given_up, confirmed_at } =
    told;
  return (
    <div>
      {destination} <span className="muted">({integration})</span>{' '}
      {confirmed_at ? (
        <>
          confirmed <Ago at={confirmed_at} />
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

function Receipts({ items, error }: { items: readonly Receipt[] | undefined; error: Error | null }) {
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
          cell: ({ told }) => (
            <div className="small">
              {told.length === 0
                ? 'no destination'
                : told.map((one) => <Notified key={`${one.integration} ${one.destination}`} told={one} />)}
            </div>
          ),
        },
        {
          head: 'Requested',
          cell: ({ requested_at, requested_by }) => (
            <>
              <Ago at={requested_at} /> <span className="muted small">by {requested_by}</span>
            </>
          ),
        },
        { head: 'File', silent: true, cell: (one) => <Download receipt={one} /> },
      ]}
    />
  );
}

const removedText = (removed: Receipt['removed']): string =>
  Object.entries(removed)
    .filter(([, count]) => count > 0)
    .map(([where, count]) => plural(count, words(where).replace(/s$/, '')))
    .join(', ') || 'nothing was stored';
