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
  const say = useCallback<Say>((text, tone = 'good') => {
    const id = ++lastId;
    setToasts((all) => [...all.slice(-3), { id, text, tone }]);
    setTimeout(() => setToasts((all) => all.filter((toast) => toast.id !== id)), tone === 'bad' ? 9_000 : 4_500);
  }, []);
  const shown = useMemo(
    () => (
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map(({ id, text, tone }) => (
          <div key={id} className="toast" data-tone={tone}>
            {text}
          </div>
        ))}
      </div>
    ),
    [toasts],
  );
  return (
    <ToastContext value={say}>
      {children}
      {shown}
    </ToastContext>
  );
}

export const useSay = (): Say => useContext(ToastContext);
