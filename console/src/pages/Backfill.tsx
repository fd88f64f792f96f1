import { Button, Modal, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { call } from '../api/client.ts';
import { useAct } from '../api/query.tsx';
import { DialogButtons } from '../parts/DialogButtons.tsx';

export function Backfill(props: { name: string; opened: boolean; onClose: () => void }) {
  const navigate = useNavigate();
  const start = useAct(
    (dates: { from: string; to: string }) => call('integrations.backfill', { integration: props.name, ...dates }),
    ({ run_id, already_going }) => {
      props.onClose();
      void navigate({ to: '/runs/$id', params: { id: run_id } });
      return already_going ? 'A backfill is already running. This is it.' : 'The backfill is queued.';
    },
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    start.mutate({ from: String(form.get('from')), to: String(form.get('to')) });
  };
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={`Backfill ${props.name}`}>
      <form onSubmit={submit} className="form">
        <p className="muted">
          Pulls every reservation between two dates again, in windows of up to a week. Unchanged records are not
          delivered.
        </p>
        <div className="pair">
          <TextInput name="from" type="date" label="From" required />
          <TextInput name="to" type="date" label="To" required />
        </div>
        <DialogButtons onCancel={props.onClose}>
          <Button type="submit" loading={start.isPending}>
            Start backfill
          </Button>
        </DialogButtons>
      </form>
    </Modal>
  );
}
