import { useEffect, useState } from 'react';
import { call, takeAccess } from './link.ts';
import { PullForm } from './PullForm.tsx';
import { Act } from './parts.tsx';
import { ReadFields } from './ReadFields.tsx';
import { Rules } from './Rules.tsx';
import { fill, phrase, useTexts } from './texts.ts';
import type { Comment, Pull, Tested } from './types.ts';

/** The form, the test, and what we read. */
export function PullStep({
  pull,
  comments,
  refresh,
}: {
  pull: Pull;
  comments: readonly Comment[];
  refresh: () => void;
}) {
  const { t } = useTexts();
  const [tested, setTested] = useState<Tested>();
  const [isTesting, setTesting] = useState(false);
  const test = async () => {
    setTesting(true);
    try {
      const result = await call<Tested>('POST', '/test');
      setTested(result);
      refresh();
      if (!result.failure) await call('POST', '/check');
      refresh();
    } finally {
      setTesting(false);
    }
  };
  const consent = async () => {
    location.href = (await call<{ url: string }>('POST', '/consent')).url;
  };
  // Back from the consent: with access, the test can begin.
  const [access] = useState(takeAccess);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page opens
  useEffect(() => {
    if (access === 'granted') void test().catch(() => {});
  }, []);
  if (!pull.may_edit) return <p>{t.pull.leadLive}</p>;
  return (
    <>
      <p>{t.pull.lead}</p>
      <PullForm key={`${pull.base_url} ${pull.list?.paging?.type}`} pull={pull} onSaved={test} />
      {pull.auth?.grant === 'authorization_code' && (
        <p className="no-print">
          <Act quiet act={consent}>
            {t.pull.consent}
          </Act>{' '}
          <small>{t.pull.consentWhy}</small>
        </p>
      )}
      {access === 'refused' && !isTesting && tested === undefined && (
        <p className="notice bad" role="alert">
          {t.codes.sentences['pull.consent_refused']}
        </p>
      )}
      {pull.base_url !== null && (
        <p className="no-print">
          <Act quiet act={test} disabled={isTesting}>
            {t.pull.test}
          </Act>
        </p>
      )}
      {isTesting && (
        <p role="status">
          {pull.check?.requests ? fill(t.pull.checking, { count: pull.check.requests }) : t.pull.testing}
        </p>
      )}
      {pull.check && <Rules check={pull.check} isTesting={isTesting} />}
      {tested && <Result tested={tested} comments={comments} refresh={refresh} />}
    </>
  );
}

function Result({ tested, comments, refresh }: { tested: Tested; comments: readonly Comment[]; refresh: () => void }) {
  const { t } = useTexts();
  const { request, failure, records } = tested;
  return (
    <div className="result" aria-live="polite">
      {failure ? (
        <div className="notice bad" role="alert">
          <strong>{phrase(t, failure.code, failure.meaning)}</strong>
          <small lang="en">
            {failure.code}: {failure.message}
          </small>
        </div>
      ) : (
        <div className={`notice ${records.length > 0 ? 'good' : 'calm'}`}>
          <strong>{records.length > 0 ? fill(t.pull.works, { count: records.length }) : t.pull.empty}</strong>
          <small>{t.pull.masked}</small>
        </div>
      )}
      {request && (
        <details>
          <summary>
            {t.pull.sent} ·{' '}
            {request.status === undefined
              ? t.pull.noAnswer
              : fill(t.pull.answered, { status: request.status, ms: Math.round(request.duration_ms ?? 0) })}
          </summary>
          <pre>
            {[
              `${request.method} ${request.url}`,
              ...Object.entries(request.headers).map((pair) => pair.join(': ')),
              request.body,
              '',
              request.answer ?? request.failure,
            ]
              .filter((line) => line !== undefined)
              .join('\n')}
          </pre>
          <small>{t.pull.hidden}</small>
        </details>
      )}
      {records.length > 0 && <ReadFields tested={tested} comments={comments} refresh={refresh} />}
    </div>
  );
}
