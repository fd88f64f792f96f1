import { Button, Checkbox, Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import { fullName, type Guest, guestOf, isErased, mergedInto } from '../api/record.ts';
import type { Found, Timeline as Story } from '../api/types.ts';
import { Card, Empty, Notice } from '../parts/basics.tsx';
import { DialogButtons } from '../parts/DialogButtons.tsx';
import { RecordLink } from '../parts/links.tsx';
import { Table } from '../parts/Table.tsx';
import { Who } from '../parts/Who.tsx';
import { useMay } from '../shell/session.ts';

/** Which person a profile is: an operator merges two profiles of one person, or splits one that two people share. */
export function ProfileCard({ story }: { story: Story }) {
  const operator = useMay('operator');
  const [dialog, setDialog] = useState<'merge' | 'split'>();
  const into = mergedInto(story.data);
  if (into !== undefined) return <Merged story={story} into={into} />;
  if (isErased(story.data)) {
    return (
      <Notice tone="calm" title="This guest was erased">
        The profile keeps its id and its history without the guest’s data.
      </Notice>
    );
  }
  if (!operator) return null;
  const close = () => setDialog(undefined);
  return (
    <Card title="Same person?">
      <div className="stack">
        <p className="muted">
          Profiles are matched by guest id, e-mail address and phone number. A decision made here outranks the matching
          from then on; destinations receive every profile that it changes.
        </p>
        <div className="row">
          <Button variant="default" onClick={() => setDialog('merge')}>
            Merge into another profile …
          </Button>
          <Button variant="default" onClick={() => setDialog('split')}>
            Split …
          </Button>
        </div>
      </div>
      {dialog === 'merge' && <Merge story={story} onClose={close} />}
      {dialog === 'split' && <Split story={story} onClose={close} />}
    </Card>
  );
}

/** What is left of a profile that was merged into another one, and the way back. */
function Merged({ story: { integration, id }, into }: { story: Story; into: string }) {
  const operator = useMay('operator');
  const undo = useAct(
    () => call('guests.split', { integration, id: into, merged: id }),
    () => 'The merge is undone: this profile has its own data again.',
  );
  return (
    <Notice
      tone="calm"
      title={
        <>
          Merged into <RecordLink integration={integration} type="guest" id={into} />
        </>
      }
    >
      <div className="stack">
        <span>Its data and its keys belong to that profile now.</span>
        {operator && (
          <div>
            <Button variant="default" onClick={() => undo.mutate(undefined)} loading={undo.isPending}>
              Undo the merge
            </Button>
          </div>
        )}
      </div>
    </Notice>
  );
}

function Merge({ story: { integration, id, data }, onClose }: { story: Story; onClose: () => void }) {
  const own = guestOf(data);
  const [text, setText] = useState(own.last_name ?? '');
  const [q, setQ] = useState(text);
  const [into, setInto] = useState<Found>();
  const query = useApi(
    'guests.search',
    { q, integration, limit: 20 },
    { enabled: q !== '', keep: true, onFocus: false },
  );
  const others = query.data?.items.filter(
    (one) => one.id !== id && mergedInto(one.data) === undefined && !isErased(one.data),
  );
  const merge = useAct(
    (kept: string) => call('guests.merge', { integration, id, into: kept }),
    () => {
      onClose();
      return 'Merged. The other profile has the data of both.';
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setQ(text.trim());
  };
  return (
    <Modal opened onClose={onClose} title="Merge into another profile" size="lg">
      <div className="stack">
        <form className="filters" onSubmit={submit} style={{ marginBottom: 0 }}>
          <TextInput
            label="Name, e-mail, phone or guest id of the other profile"
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            style={{ flex: '1 1 240px' }}
            data-autofocus
          />
          <Button type="submit" variant="default">
            Search
          </Button>
        </form>
        {q !== '' && (
          <Table
            label="Other profiles"
            narrow
            rows={others}
            error={query.error}
            rowKey={(one) => one.id}
            empty={<Empty small title={`No other profile of ${integration} matches`} />}
            columns={[
              { head: 'Profile', cell: (one) => <Who guest={guestOf(one.data)} id={one.id} /> },
              {
                head: 'Choose',
                silent: true,
                cell: (one) => (
                  <Button
                    size="compact-sm"
                    variant={into?.id === one.id ? 'filled' : 'default'}
                    aria-pressed={into?.id === one.id}
                    aria-label={`Choose ${fullName(guestOf(one.data)) || one.id}, ${one.id}`}
                    onClick={() => setInto(one)}
                  >
                    {into?.id === one.id ? 'Chosen' : 'Choose'}
                  </Button>
                ),
              },
            ]}
          />
        )}
        {into && <Result own={own} kept={guestOf(into.data)} />}
        <DialogButtons onCancel={onClose}>
          <Button disabled={!into} loading={merge.isPending} onClick={() => into && merge.mutate(into.id)}>
            Merge
          </Button>
        </DialogButtons>
      </div>
    </Modal>
  );
}

const fields = {
  guest_id: 'Guest id',
  email: 'E-mail',
  phone: 'Phone',
  first_name: 'First name',
  last_name: 'Last name',
};
const fieldNames = Object.keys(fields) as (keyof typeof fields)[];

/** What each of them has, and what the profile that stays will have. */
function Result({ own, kept }: { own: Guest; kept: Guest }) {
  return (
    <Table
      label="What the merge gives"
      narrow
      rows={[
        ...fieldNames
          .filter((name) => own[name] ?? kept[name])
          .map((name) => [fields[name], own[name] ?? '–', kept[name] ?? '–', kept[name] ?? own[name]] as const),
        [
          'Consent',
          consentText(own.marketing_consent),
          consentText(kept.marketing_consent),
          consentAfter(own.marketing_consent, kept.marketing_consent),
        ] as const,
      ]}
      rowKey={([field]) => field}
      columns={[
        { head: 'Field', cell: ([field]) => field },
        { head: 'This profile', cell: ([, its]) => its },
        { head: 'The other', cell: ([, , others]) => others },
        { head: 'After', cell: ([, , , after]) => <strong>{after}</strong> },
      ]}
    />
  );
}

export const consentText = (consent: boolean | undefined): string =>
  consent === undefined ? 'not stated' : consent ? 'yes' : 'no';

/** The newer statement counts. */
function consentAfter(one: boolean | undefined, other: boolean | undefined): string {
  if (one === undefined || other === undefined || one === other) return consentText(one ?? other);
  return 'whichever was stated last';
}

const keyNames = ['guest_id', 'email', 'phone'] as const;

function Split({ story: { integration, id, data }, onClose }: { story: Story; onClose: () => void }) {
  const own = guestOf(data);
  const present = keyNames.filter((name) => own[name] !== undefined);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const split = useAct(
    () => call('guests.split', { integration, id, fields: keyNames.filter((name) => chosen.includes(name)) }),
    ({ profiles }) => {
      onClose();
      const made = profiles.find((one) => one.id !== id);
      return made ? `Split. The other person is profile ${made.id}.` : 'Split.';
    },
  );
  return (
    <Modal opened onClose={onClose} title="Split the profile">
      <div className="stack">
        <Checkbox.Group
          label="What belongs to the other person"
          description="It moves to a new profile, with the data of the reservations that have it."
          value={[...chosen]}
          onChange={setChosen}
        >
          <div className="stack" style={{ gap: 8, padding: '8px 0' }}>
            {present.map((name) => (
              <Checkbox key={name} value={name} label={`${fields[name]}: ${own[name]}`} />
            ))}
          </div>
        </Checkbox.Group>
        {present.length < 2 && <p>A profile with a single key has nothing to split: something must remain.</p>}
        <DialogButtons onCancel={onClose}>
          <Button
            disabled={chosen.length === 0 || chosen.length === present.length}
            loading={split.isPending}
            onClick={() => split.mutate(undefined)}
          >
            Split
          </Button>
        </DialogButtons>
      </div>
    </Modal>
  );
}
