import { Button, Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { DialogButtons } from './DialogButtons.tsx';

/** A button for what cannot be undone: it asks first, and says what happens. */
export function Sure(props: {
  label: string;
  /** Of what, where several of these buttons are beside each other. */
  of?: string;
  title: string;
  children: ReactNode;
  size?: 'sm' | 'compact-sm';
  busy?: boolean;
  onSure: () => void;
}) {
  const [asked, setAsked] = useState(false);
  const { label, of, title, children, size = 'sm', busy = false, onSure } = props;
  return (
    <>
      <Button
        size={size}
        variant="default"
        loading={busy}
        onClick={() => setAsked(true)}
        {...(of && { 'aria-label': `${label} ${of}` })}
      >
        {label}
      </Button>
      <Modal opened={asked} onClose={() => setAsked(false)} title={title}>
        <div className="stack">
          <p>{children}</p>
          <DialogButtons onCancel={() => setAsked(false)} safe>
            <Button
              color="red"
              onClick={() => {
                setAsked(false);
                onSure();
              }}
            >
              {label}
            </Button>
          </DialogButtons>
        </div>
      </Modal>
    </>
  );
}
