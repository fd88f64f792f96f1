import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}
type Say = (text: string, tone?: Toast['tone']) => void;
const ToastContext = createContext<Say>(() => {});
let lastId = 0;

export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const close = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const say = useCallback<Say>(
    (text, tone = 'good') => {
      const id = ++lastId;
      setToasts((all) => [...all.slice(-3), { id, text, tone }]);
      // A refusal has the next step in it: it stays until somebody has read it.
      if (tone === 'good') setTimeout(() => close(id), 4_500);
    },
    [close],
  );
  const shown = useMemo(
    () => (
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map(({ id, text, tone }) => (
          <div key={id} className="toast" data-tone={tone}>
            {text}
            {tone === 'bad' && (
              <button type="button" aria-label="Close" onClick={() => close(id)}>
                ×
              </button>
            )}
          </div>
        ))}
      </div>
    ),
    [toasts, close],
  );
  return (
    <ToastContext value={say}>
      {children}
      {shown}
    </ToastContext>
  );
}

export const useSay = (): Say => useContext(ToastContext);
