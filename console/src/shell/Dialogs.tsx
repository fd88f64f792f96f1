import { useEffect, useRef, useState } from 'react';
import { moveInList } from './list-keys.ts';
import { Palette } from './Palette.tsx';

type Which = 'palette' | 'keys';

const keys: readonly (readonly [key: string, what: string])[] = [
  ['Ctrl K', 'Go to a page or a brand, or do something'],
  ['/', 'Find a reservation'],
  ['j, k', 'The next, the previous row of a list'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close a dialog; the focus returns to where it was'],
  ['?', 'This list'],
];

/** The keys of every page, and the dialogs they open. The browser returns the focus when a dialog closes. */
export function Dialogs() {
  const [which, setWhich] = useState<Which>();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const onAsk = (event: Event) => setWhich((event as CustomEvent<Which>).detail);
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault();
        setWhich('palette');
        return;
      }
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isTyping(event) ||
        document.querySelector('dialog[open], [role="dialog"]')
      )
        return;
      if (event.key === '?') setWhich('keys');
      else if (event.key === 'j') moveInList(1);
      else if (event.key === 'k') moveInList(-1);
      else return;
      event.preventDefault();
    };
    addEventListener('innbound:ask', onAsk);
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('innbound:ask', onAsk);
      removeEventListener('keydown', onKey);
    };
  }, []);
  useEffect(() => {
    if (which !== undefined && !dialog.current?.open) dialog.current?.showModal();
  }, [which]);
  if (which === undefined) return null;
  const close = () => dialog.current?.close();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes it too
    <dialog
      ref={dialog}
      className="palette"
      aria-label={which === 'palette' ? 'Go to or do' : 'Keyboard shortcuts'}
      onClose={() => setWhich(undefined)}
      onClick={(event) => event.target === dialog.current && close()}
    >
      {which === 'palette' ? (
        <Palette onClose={close} />
      ) : (
        <div className="keys">
          <h2>Keyboard shortcuts</h2>
          <dl className="facts">
            {keys.map(([key, what]) => (
              <div key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </dialog>
  );
}

export const isTyping = ({ target }: Event): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
