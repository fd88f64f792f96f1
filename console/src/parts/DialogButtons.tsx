import { Button } from '@mantine/core';
import type { ReactNode } from 'react';

/** The last row of a dialog: the button that acts, and the one that only closes it. */
export function DialogButtons(props: { children: ReactNode; onCancel: () => void; cancel?: string; safe?: boolean }) {
  return (
    <div className="row">
      {props.children}
      <Button variant="default" onClick={props.onCancel} data-autofocus={props.safe}>
        {props.cancel ?? 'Cancel'}
      </Button>
    </div>
  );
}
