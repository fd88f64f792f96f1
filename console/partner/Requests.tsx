import { useState } from 'react';
import { CommentForm, Thread } from './Comments.tsx';
import { phrase, useTexts } from './texts.ts';
import type { Arrived, Comment } from './types.ts';
import { verdictOn } from './verdict.ts';

/** What arrived, newest first, each with its verdict. */
export function Requests({
  requests,
  comments,
  refresh,
}: {
  requests: readonly Arrived[];
  comments: readonly Comment[];
  refresh: () => void;
}) {
  const { t } = useTexts();
  return (
    <div className="requests" aria-live="polite">
      {requests.length === 0 && <p className="waiting">{t.push.waiting}</p>}
      {requests.map((request) => (
        <Request
          key={request.id}
          request={request}
          comments={comments.filter(({ about }) => about === `request ${request.id}`)}
          refresh={refresh}
        />
      ))}
    </div>
  );
}

function Request({
  request,
  comments,
  refresh,
}: {
  request: Arrived;
  comments: readonly Comment[];
  refresh: () => void;
}) {
  const { t, time } = useTexts();
  const [isCommenting, setCommenting] = useState(false);
  const { tone, headline, fix, words, parts } = verdictOn(request, t);
  const { outcome, signature } = request;
  const english = [signature?.explanation, words].filter((text) => text !== undefined && text !== '' && text !== fix);
  const isSample = request.event_id.startsWith('sample_');
  return (
    <details className={`request ${tone}`}>
      <summary>
        <span className="status">{request.status}</span>
        <span className="what">
          <strong>{headline}</strong>
          <small>
            {[time(request.at), request.event, isSample ? t.push.sampleName : request.event_id]
              .filter(Boolean)
              .join(' · ')}
          </small>
          {fix !== '' && <span className="fix">{fix}</span>}
        </span>
        <span className="parts">
          {parts.map(({ name, isRight }) => (
            <span key={name} className={isRight === undefined ? 'unknown' : isRight ? 'right' : 'wrong'}>
              {isRight === undefined ? '–' : isRight ? '✓' : '✗'} {name}
            </span>
          ))}
        </span>
      </summary>
      {outcome.effect !== undefined && (
        <p>{phrase(t, request.event === 'guest.updated' ? 'effect.guest' : 'effect.part', outcome.effect)}</p>
      )}
      {english.map((text) => (
        <p key={text} lang="en">
          {text}
        </p>
      ))}
      {outcome.fields && (
        <>
          <h4>{t.verdict.understood}</h4>
          <dl className="fields">
            {outcome.fields.map(({ field, value }) => (
              <div key={field}>
                <dt>{field}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {outcome.notes && outcome.notes.length > 0 && (
        <>
          <h4>{t.verdict.changed}</h4>
          <ul>
            {outcome.notes.map(({ field, code, reason }) => (
              <li key={`${field} ${reason}`}>
                <code>{field}</code>: {phrase(t, code, reason)}
              </li>
            ))}
          </ul>
        </>
      )}
      <Thread comments={comments} />
      {isCommenting ? (
        <CommentForm
          about={`request ${request.id}`}
          label={t.verdict.comment}
          onCancel={() => setCommenting(false)}
          onDone={() => {
            setCommenting(false);
            refresh();
          }}
        />
      ) : (
        <button type="button" className="quiet" onClick={() => setCommenting(true)}>
          {t.verdict.comment}
        </button>
      )}
    </details>
  );
}
