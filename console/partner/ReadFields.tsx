import { useState } from 'react';
import { CommentForm, Thread } from './Comments.tsx';
import { call } from './link.ts';
import { Act } from './parts.tsx';
import { useTexts } from './texts.ts';
import type { Comment, Tested } from './types.ts';
import { fieldWords } from './words.ts';

/** `guests[0].email` is about guests.email. */
const nameOf = (field: string): string => field.replace(/\[\d+\]/g, '');

/** What a hotel's marketing and its figures live on. */
const wanted = [
  'confirmation_number',
  'status',
  'check_in',
  'check_out',
  'booking_date',
  'channel',
  'total_amount',
  'currency',
  'guests.first_name',
  'guests.last_name',
  'guests.email',
  'guests.phone',
  'guests.nationality',
  'rooms.room_type',
];

/** What we read, field by field: three examples, how many records have it, and what the partner says about it. */
export function ReadFields({
  tested,
  comments,
  refresh,
}: {
  tested: Tested;
  comments: readonly Comment[];
  refresh: () => void;
}) {
  const { t } = useTexts();
  const { records, filled, unread } = tested;
  const rates = new Map(filled.map((one) => [one.field, one]));
  const names = [...new Set(records.flat().map(({ field }) => nameOf(field)))];
  const isConfirmed = (name: string) => comments.some(({ about, text }) => about === `field ${name}` && text === '');
  const toConfirm = names.filter((name) => !isConfirmed(name));
  const notFound = wanted.filter((name) => !names.includes(name));
  return (
    <>
      <table className="read">
        <thead>
          <tr>
            <th>{t.pull.field}</th>
            <th>{t.pull.source}</th>
            <th>{t.pull.value}</th>
            <th>{t.pull.filled}</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {names.map((name) => {
            const values = records.map((record) => record.find(({ field }) => nameOf(field) === name));
            const rate = rates.get(name);
            return (
              <FieldRow
                key={name}
                name={name}
                source={values.find((one) => one?.from !== undefined)?.from ?? ''}
                values={values.map((one) => one?.value ?? '–')}
                rate={rate === undefined || rate.of === 0 ? '' : `${Math.round((100 * rate.filled) / rate.of)} %`}
                comments={comments.filter(({ about }) => about === `field ${name}`)}
                refresh={refresh}
              />
            );
          })}
        </tbody>
      </table>
      {toConfirm.length > 1 && (
        <Act
          act={async () => {
            for (const name of toConfirm) await call('POST', '/comment', { about: `field ${name}`, text: '' });
            refresh();
          }}
        >
          {t.pull.allRight}
        </Act>
      )}
      {notFound.length > 0 && (
        <p className="unread">
          <strong>{t.pull.notFound}:</strong> {notFound.map((name) => fieldWords(name, t)).join(', ')}
        </p>
      )}
      {unread.length > 0 && (
        <details>
          <summary>
            {t.pull.unread} ({unread.length})
          </summary>
          <p className="unread">
            {unread.map((name) => (
              <code key={name}>{name}</code>
            ))}
          </p>
        </details>
      )}
    </>
  );
}

interface RowProps {
  readonly name: string;
  readonly source: string;
  readonly values: readonly string[];
  readonly rate: string;
  readonly comments: readonly Comment[];
  readonly refresh: () => void;
}

function FieldRow({ name, source, values, rate, comments, refresh }: RowProps) {
  const { t } = useTexts();
  const [isCommenting, setCommenting] = useState(false);
  const isConfirmed = comments.some(({ text }) => text === '');
  const about = `field ${name}`;
  return (
    <tr>
      <th scope="row" data-label={t.pull.field}>
        {fieldWords(name, t)}
      </th>
      <td data-label={t.pull.source}>{source !== '' && <code>{source}</code>}</td>
      <td data-label={t.pull.value}>{values.join(' · ')}</td>
      <td data-label={t.pull.filled}>{rate}</td>
      <td className="say">
        {isConfirmed ? (
          <span className="right">✓ {t.pull.confirmed}</span>
        ) : (
          <Act quiet act={() => call('POST', '/comment', { about, text: '' }).then(refresh)}>
            {t.pull.right}
          </Act>
        )}
        {isCommenting ? (
          <CommentForm
            about={about}
            label={`${t.pull.comment}: ${fieldWords(name, t)}`}
            onCancel={() => setCommenting(false)}
            onDone={() => {
              setCommenting(false);
              refresh();
            }}
          />
        ) : (
          <button type="button" className="quiet" onClick={() => setCommenting(true)}>
            {t.pull.comment}
          </button>
        )}
        <Thread comments={comments} />
      </td>
    </tr>
  );
}
