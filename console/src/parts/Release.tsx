import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import { useMay } from '../shell/session.ts';
import { Loaded } from './basics.tsx';
import { DialogButtons } from './DialogButtons.tsx';
import { plural } from './format.ts';
import { Counts, Samples } from './StartJob.tsx';

interface Lane {
  readonly integration: string;
  readonly destination: string;
}

/** For a destination in preview: shows what it would get, then sends it. */
export function Release(lane: Lane) {
  const operator = useMay('operator');
  const [isOpen, setOpen] = useState(false);
  if (!operator) return null;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={() => setOpen(true)}
        aria-label={`Preview and release … ${lane.destination}`}
      >
        Preview and release …
      </Button>
      {isOpen && <ReleaseDialog lane={lane} onClose={() => setOpen(false)} />}
    </>
  );
}

function ReleaseDialog({ lane, onClose }: { lane: Lane; onClose: () => void }) {
  const { integration, destination } = lane;
  const preview = useApi('integrations.preview_release', { ...lane }, { onFocus: false, retry: false });
  const release = useAct(
    () => call('integrations.release', { ...lane }),
    () => {
      onClose();
      return `${destination} gets what waited, and everything after it.`;
    },
  );
  return (
    <Modal opened onClose={onClose} title={`Release ${integration} to ${destination}`} size="lg">
      <div className="stack">
        <p className="muted">
          This waits here. Released, all of it is sent to {destination}, and every later change as it happens.
        </p>
        <Loaded query={preview}>
          {(seen) => (
            <>
              <Counts preview={seen} one="record" />
              <Samples preview={seen} of="records" />
              <DialogButtons onCancel={onClose}>
                <Button onClick={() => release.mutate(undefined)} loading={release.isPending} data-autofocus>
                  Release {plural(seen.total, 'record')}
                </Button>
              </DialogButtons>
            </>
          )}
        </Loaded>
      </div>
    </Modal>
  );
}
