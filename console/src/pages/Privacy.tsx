import { Button, Modal, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { get, post } from '../api/client.ts';
import type { Found, Page, Receipt } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { Ago, Card, Empty, Head, Loaded, Notice, State } from '../parts/basics.tsx';
import { instant, number, plural, words } from '../parts/format.ts';

interface Whom {
  email?: string;
  phone?: string;
}

export function Privacy() {
  const [whom, setWhom] = useState<Whom>();
  const [receipt, setReceipt] = useState<Receipt>();
  const query = useQuery({ queryKey: ['erasures'], queryFn: () => get<{ items: Receipt[] }>('/privacy/erasures') });
  const [proof, setProof] = useState<readonly Receipt[]>();
  const find = useAct(
    (asked: Whom) => post<{ items: Receipt[] }>('/privacy/erasures/find', asked),
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
    else setWhom(asked);
  };
  return (
    <>
      <Head
        title="Privacy"
        lead="Erase a guest from records, versions, raw payloads, events, dead letters and queued deliveries; destinations are told, and the next poll does not bring the guest back."
      />
      <div className="stack">
        <Card title="Erase a guest">
          <form onSubmit={submit} className="filters" style={{ marginBottom: 0 }}>
            <TextInput
              name="who"
              label="E-mail address, or phone with country code"
              required
              style={{ flex: '1 1 280px', maxWidth: 420 }}
            />
            <Button type="submit" variant="default">
              See what would go
            </Button>
            <Button type="submit" variant="default" name="proof" loading={find.isPending}>
              Was it erased?
            </Button>
          </form>
        </Card>
        {receipt && <Done receipt={receipt} />}
        {proof && <Proof receipts={proof} />}
        <Card title="Receipts" aside="the proof that it was done" flush>
          <Loaded query={query}>
            {({ items }) =>
              items.length === 0 ? (
                <Empty title="Nobody has been erased">
                  Each erasure leaves a receipt here, without the guest’s data.
                </Empty>
              ) : (
                <Receipts items={items} />
              )
            }
          </Loaded>
        </Card>
      </div>
      {whom && (
        <Confirm
          whom={whom}
          onClose={() => setWhom(undefined)}
          onDone={(done) => {
            setWhom(undefined);
            setReceipt(done);
          }}
        />
      )}
    </>
  );
}

function Confirm(props: { whom: Whom; onClose: () => void; onDone: (receipt: Receipt) => void }) {
  const who = props.whom.email ?? props.whom.phone ?? '';
  const found = useQuery({
    queryKey: ['records', 'of', who],
    queryFn: ({ signal }) => get<Page<Found>>('/reservations', { q: who, limit: 200 }, signal),
  });
  const [typed, setTyped] = useState('');
  const erase = useAct(
    () => post<Receipt>('/privacy/erasures', props.whom),
    (receipt) => {
      props.onDone(receipt);
      return 'Erased. The receipt is below.';
    },
  );
  return (
    <Modal opened onClose={props.onClose} title="Erase for good">
      <div className="stack">
        <Loaded query={found}>
          {({ items }) => (
            <p>
              {items.length === 0 ? 'No booking' : plural(items.length, 'booking')} of <strong>{who}</strong>{' '}
              {items.length === 1 ? 'is' : 'are'} known. The bookings stay; everything that tells who the guest is goes,
              everywhere. It cannot be undone.
            </p>
          )}
        </Loaded>
        <TextInput
          label={`Type ${who} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
        <div>
          <Button
            data-danger
            disabled={typed.trim() !== who}
            loading={erase.isPending}
            onClick={() => erase.mutate(undefined)}
          >
            Erase
          </Button>
        </div>
      </div>
    </Modal>
  );
}

/** The answer to somebody who asks whether they were erased. */
function Proof({ receipts }: { receipts: readonly Receipt[] }) {
  const [last] = receipts;
  if (last === undefined) {
    return (
      <Notice tone="calm" role="status" title="No erasure was asked for by this address or number">
        One that was asked for by another of the guest’s addresses has its own receipt.
      </Notice>
    );
  }
  return (
    <Notice tone="good" role="status" title={`Erased ${instant(last.requested_at)}, receipt ${last.erasure_id}`}>
      {receipts.length > 1 && `Asked for ${receipts.length} times. `}
      The address was compared as a keyed hash; it is kept nowhere.
    </Notice>
  );
}

function Done({ receipt }: { receipt: Receipt }) {
  const removed = Object.entries(receipt.removed).filter(([, count]) => count > 0);
  return (
    <Notice tone="good" title={`Erased, receipt ${receipt.erasure_id}`} role="status">
      {removed.length === 0
        ? 'Nothing of this guest was kept. Should the guest come in later, nothing of it is taken.'
        : removed.map(([where, count]) => `${number(count)} in ${words(where)}`).join(', ')}
      {receipt.told.length > 0 &&
        `. Told: ${receipt.told.map((one) => `${one.destination} (${one.integration})`).join(', ')}.`}
    </Notice>
  );
}

/** Done is what every destination has confirmed. */
function Progress({ receipt }: { receipt: Receipt }) {
  if (receipt.confirmed_at) return <State of="done" label="Done" />;
  return <State of="running" label={receipt.completed_at ? 'Being told' : 'Going on'} />;
}

function Telling({ told }: { told: Receipt['told'][number] }) {
  const { destination, integration, records, confirmed, passed_over, confirmed_at } = told;
  return (
    <div>
      {destination} <span className="muted">({integration})</span>{' '}
      {confirmed_at ? (
        <>
          confirmed <Ago at={confirmed_at} />
        </>
      ) : (
        `${number(confirmed + passed_over)} of ${number(records)}`
      )}
    </div>
  );
}

function Receipts({ items }: { items: readonly Receipt[] }) {
  return (
    <table className="list folds">
      <thead>
        <tr>
          <th scope="col">Receipt</th>
          <th scope="col">State</th>
          <th scope="col">Emptied</th>
          <th scope="col">Told</th>
          <th scope="col">Asked</th>
        </tr>
      </thead>
      <tbody>
        {items.map((one) => (
          <tr key={one.erasure_id}>
            <td className="mono">{one.erasure_id}</td>
            <td>
              <Progress receipt={one} />
            </td>
            <td className="whole small">
              {Object.entries(one.removed)
                .filter(([, count]) => count > 0)
                .map(([where, count]) => plural(count, words(where).replace(/s$/, '')))
                .join(', ') || 'nothing was kept'}
            </td>
            <td className="small">
              {one.told.length === 0
                ? 'nobody'
                : one.told.map((told) => <Telling key={`${told.integration} ${told.destination}`} told={told} />)}
            </td>
            <td>
              <Ago at={one.requested_at} /> <span className="muted small">by {one.requested_by}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
