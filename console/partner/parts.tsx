import { type ReactNode, useState } from 'react';
import { LinkClosed, Refused } from './link.ts';
import { fill, phrase, useTexts } from './texts.ts';

/** A numbered step of the page. */
export function Step({
  id,
  no,
  title,
  state,
  children,
}: {
  id: string;
  no: number;
  title: string;
  state?: string | undefined;
  children: ReactNode;
}) {
  return (
    <section id={id} className="step" aria-labelledby={`${id}-title`}>
      <header>
        <span className="no" aria-hidden="true">
          {no}
        </span>
        <h2 id={`${id}-title`}>{title}</h2>
        {state !== undefined && <span className="badge">{state}</span>}
      </header>
      {children}
    </section>
  );
}

/** A text to copy. */
export function Copyable({ text, label, secret = false }: { text: string; label: string; secret?: boolean }) {
  const { t } = useTexts();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <div className={`copyable${secret ? ' no-print' : ''}`}>
      <code>{text}</code>
      <button type="button" className="quiet" onClick={() => void copy()} aria-label={`${t.copy}: ${label}`}>
        {copied ? t.copied : t.copy}
      </button>
    </div>
  );
}

/** A button for something that takes a moment and can fail. */
export function Act({
  act,
  children,
  quiet = false,
  disabled = false,
}: {
  act: () => Promise<unknown>;
  children: ReactNode;
  quiet?: boolean;
  disabled?: boolean;
}) {
  const [state, setState] = useState<{ busy: boolean; failure?: unknown }>({ busy: false });
  const run = async () => {
    setState({ busy: true });
    try {
      await act();
      setState({ busy: false });
    } catch (error) {
      setState({ busy: false, failure: error });
    }
  };
  return (
    <>
      <button
        type="button"
        className={quiet ? 'quiet' : ''}
        disabled={disabled || state.busy}
        onClick={() => void run()}
      >
        {children}
      </button>
      {state.failure !== undefined && <Failure error={state.failure} />}
    </>
  );
}

/** In the page's language, with the service's own words where they say more. */
function Failure({ error }: { error: unknown }) {
  const { t } = useTexts();
  // The page follows the link, and is about to say that it has ended.
  if (error instanceof LinkClosed) return null;
  if (!(error instanceof Refused)) return <Alert>{t.offline}</Alert>;
  const reason = phrase(t, error.code, error.message);
  return (
    <Alert>
      {fill(t.failed, { reason })} {reason !== error.message && <small lang="en">{error.message}</small>}
    </Alert>
  );
}

const Alert = ({ children }: { children: ReactNode }) => (
  <p className="failure" role="alert">
    {children}
  </p>
);
