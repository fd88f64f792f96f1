import { Button, Modal, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { type Answer, call, type Input } from '../api/client.ts';
import { useAct, useApi, usePages } from '../api/query.tsx';
import type { Guest } from '../api/record.ts';
import type { Receipt } from '../api/types.ts';
import { Card, Head, Loaded, Notice } from '../parts/basics.tsx';
import { erased } from '../parts/claims.ts';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { download } from '../parts/download.ts';
import { number, plural } from '../parts/format.ts';
import { useMay, useSeesAllBrands } from '../shell/session.ts';
import { Done, isOpen, notifiedText, Proof, Receipts, Running, removedText } from './ErasureReceipts.tsx';

type Whom = Input<'privacy.preview'>;

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
        {receipt && <Done receipt={rows?.find((one) => one.erasure_id === receipt.erasure_id) ?? receipt} />}
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
  const preview = useApi('privacy.preview', props.whom, { onFocus: false });
  const [typed, setTyped] = useState('');
  return (
    <Modal opened onClose={props.onClose} title="Erase the guest">
      <div className="stack">
        <Loaded query={preview}>
          {({ removed, records, notified }) => (
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
              {notified.length > 0 && <p className="muted">{notifiedText(notified, false)}</p>}
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
          <Button data-danger disabled={!preview.data || typed.trim() !== who} onClick={props.onErase}>
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
