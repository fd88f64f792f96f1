import { call } from './link.ts';
import { Act } from './parts.tsx';
import { fill, phrase, useTexts } from './texts.ts';
import type { Health, View } from './types.ts';

/** Ready, approved, live, and then how the feed is doing. */
export function LiveStep({ view, refresh }: { view: View; refresh: () => void }) {
  const { t, day } = useTexts();
  if (view.state === 'live' && view.health) {
    return (
      <>
        <div className="notice good">
          <strong>{t.live.done}</strong>
          <small>{fill(t.live.doneWhy, { date: day(view.expires_at) })}</small>
        </div>
        <Feed health={view.health} asks={view.asks} />
      </>
    );
  }
  if (view.state === 'ready') return <div className="notice calm">{t.live.waiting}</div>;
  return (
    <>
      <p>{t.live.lead}</p>
      <Act act={() => call('POST', '/ready').then(refresh)} disabled={!view.is_complete}>
        {t.live.ready}
      </Act>
      {!view.is_complete && <p>{t.live.notYet}</p>}
    </>
  );
}

function Feed({ health, asks }: { health: Health; asks: View['asks'] }) {
  const { t, time } = useTexts();
  const { last_event_at, last_poll, backfill, refused, failed_polls } = health;
  const facts = [
    ...(asks.includes('push') ? [[t.live.lastEvent, last_event_at === null ? t.live.never : time(last_event_at)]] : []),
    ...(asks.includes('pull')
      ? [
          [
            t.live.lastPoll,
            last_poll === null
              ? t.live.never
              : `${time(last_poll.at)} · ${t.live.runStates[last_poll.status] ?? last_poll.status}`,
          ],
          [
            t.live.backfill,
            backfill === null
              ? t.live.never
              : `${t.live.runStates[backfill.status] ?? backfill.status} · ${fill(t.live.bookings, { count: backfill.bookings })}`,
          ],
        ]
      : []),
  ];
  const problems = [
    ...refused.map((one) => ({
      at: one.at,
      id: one.request_id,
      text: `${one.status} · ${t.live.reasons[one.reason.split(' ')[0] ?? ''] ?? one.reason}`,
    })),
    ...failed_polls.map((one) => ({
      at: one.at,
      id: one.id,
      text: phrase(t, one.code, one.meaning ?? one.code ?? ''),
    })),
  ].toSorted((a, b) => (a.at < b.at ? 1 : -1));
  return (
    <>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>{t.live.problems}</h3>
      {problems.length === 0 && <p>{t.live.noProblems}</p>}
      <ul className="problems">
        {problems.map(({ at, id, text }) => (
          <li key={id}>
            <small>
              {time(at)} · <code>{id}</code>
            </small>
            <p>{text}</p>
          </li>
        ))}
      </ul>
    </>
  );
}
