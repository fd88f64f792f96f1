import { useEffect, useState } from 'react';
import { exampleEvent } from '../../src/core/canonical/example-event.ts';
import { codeLanguages, commandsFor, type Language, programIn } from './code.ts';
import { call } from './link.ts';
import { Act, Copyable } from './parts.tsx';
import { Requests } from './Requests.tsx';
import { fill, useTexts } from './texts.ts';
import type { Comment, Push } from './types.ts';

const secretShownMs = 5 * 60_000;

/** Address, secret, code, and what arrived. */
export function PushStep({
  push,
  brand,
  isLive,
  comments,
  refresh,
}: {
  push: Push;
  brand: string;
  isLive: boolean;
  comments: readonly Comment[];
  refresh: () => void;
}) {
  const { t } = useTexts();
  return (
    <>
      <p>{push.is_rehearsal ? t.push.lead : t.push.leadLive}</p>
      <h3>{t.push.address}</h3>
      <Copyable text={push.url} label={t.push.address} />
      {push.test_url !== push.url && (
        <>
          <h3>{t.push.sandbox}</h3>
          <Copyable text={push.test_url} label={t.push.sandbox} />
        </>
      )}
      <Secret takenAt={push.secret_at} refresh={refresh} />
      {push.is_standard ? <Code url={push.test_url} brand={brand} /> : <p>{t.push.ownFormat}</p>}
      <div className="tools no-print">
        {push.is_standard && (
          <div>
            <Act quiet act={() => call('POST', '/sample').then(refresh)}>
              {t.push.sample}
            </Act>
            <small>{t.push.sampleWhy}</small>
          </div>
        )}
        {!isLive && (
          <div>
            <Act quiet act={() => call('POST', '/retry-test').then(refresh)}>
              {t.push.retry}
            </Act>
            <small>
              {push.retry_test && push.retry_test.attempts < 3
                ? fill(t.push.retryWaiting, { count: push.retry_test.attempts })
                : t.push.retryWhy}
            </small>
          </div>
        )}
      </div>
      <h3>{t.push.requests}</h3>
      <Requests requests={push.requests} comments={comments} refresh={refresh} />
    </>
  );
}

/** In the memory of this component only, and not for long: a page left open shows no secret. */
function Secret({ takenAt, refresh }: { takenAt: string | null; refresh: () => void }) {
  const { t, time } = useTexts();
  const [secret, setSecret] = useState<string>();
  useEffect(() => {
    if (secret === undefined) return undefined;
    const timer = setTimeout(() => setSecret(undefined), secretShownMs);
    return () => clearTimeout(timer);
  }, [secret]);
  const take = async () => {
    setSecret((await call<{ secret: string }>('POST', '/secret')).secret);
    refresh();
  };
  return (
    <div className="no-print">
      <h3>{t.push.secret}</h3>
      {secret === undefined ? (
        <>
          <p>{takenAt === null ? t.push.secretWhy : fill(t.push.secretAgainWhy, { date: time(takenAt) })}</p>
          <Act quiet={takenAt !== null} act={take}>
            {takenAt === null ? t.push.secretShow : t.push.secretAgain}
          </Act>
        </>
      ) : (
        <>
          <Copyable text={secret} label={t.push.secret} secret />
          <p>
            {t.push.secretWhy} {t.push.secretHides}
          </p>
        </>
      )}
    </div>
  );
}

function Code({ url, brand }: { url: string; brand: string }) {
  const { t } = useTexts();
  const [language, setLanguage] = useState<Language>('curl');
  const [event] = useState(() => JSON.stringify(exampleEvent(brand, Date.now()), null, 2));
  return (
    <details className="code no-print">
      <summary>{t.push.code}</summary>
      <p>{t.push.codeWhy}</p>
      <div className="tabs" role="tablist">
        {codeLanguages.map((one) => (
          <button key={one} type="button" role="tab" aria-selected={one === language} onClick={() => setLanguage(one)}>
            {one}
          </button>
        ))}
      </div>
      <Block text={commandsFor(language, url)} label={t.push.codeWhy} />
      <Block text={programIn(language)} label={t.push.code} />
      <h4>{t.push.event}</h4>
      <Block text={event} label={t.push.event} />
    </details>
  );
}

function Block({ text, label }: { text: string; label: string }) {
  const { t } = useTexts();
  return (
    <div className="block">
      <button
        type="button"
        className="quiet"
        onClick={() => void navigator.clipboard.writeText(text)}
        aria-label={`${t.copy}: ${label}`}
      >
        {t.copy}
      </button>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block is scrolled by keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}
