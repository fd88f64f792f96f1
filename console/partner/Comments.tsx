import { useState } from 'react';
import { call } from './link.ts';
import { Act } from './parts.tsx';
import { fill, useTexts } from './texts.ts';
import type { Comment } from './types.ts';

/** What both sides wrote; about one field or request, or everything. */
export function Thread({ comments, withAbout = false }: { comments: readonly Comment[]; withAbout?: boolean }) {
  const { t, time } = useTexts();
  const written = comments.filter(({ text }) => text !== '');
  if (written.length === 0) return null;
  return (
    <ul className="thread">
      {written.map(({ at, side, about, text }) => (
        <li key={`${at} ${about}`} className={side}>
          <small>
            {side === 'partner' ? t.talk.you : t.talk.us} · {time(at)}
            {withAbout && about !== '' && ` · ${fill(t.talk.about, { what: about.replace(/^\w+ /, '') })}`}
          </small>
          <p>{text}</p>
        </li>
      ))}
    </ul>
  );
}

export function CommentForm({
  about,
  label,
  onDone,
  onCancel,
}: {
  about: string;
  label: string;
  onDone: () => void;
  onCancel?: () => void;
}) {
  const { t } = useTexts();
  const [text, setText] = useState('');
  const send = async () => {
    await call('POST', '/comment', { about, text });
    setText('');
    onDone();
  };
  return (
    <div className="comment-form no-print">
      <textarea
        aria-label={label}
        placeholder={t.talk.write}
        rows={2}
        maxLength={2_000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Act act={send} disabled={text.trim() === ''}>
        {t.talk.send}
      </Act>
      {onCancel && (
        <button type="button" className="quiet" onClick={onCancel}>
          {t.talk.cancel}
        </button>
      )}
    </div>
  );
}
