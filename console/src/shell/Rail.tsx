import { Button } from '@mantine/core';
import { notifyManager, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { Problem } from '../api/client.ts';
import { LiveContext } from '../api/live.ts';
import type { Reach } from '../api/reach.ts';
import { Notice, RelativeTime } from '../parts/basics.tsx';
import { number } from '../parts/format.ts';
import { icons, Mark } from '../parts/icons.tsx';
import { useCounts } from './overview.ts';
import { usePlaces } from './places.ts';
import { UserMenu } from './UserMenu.tsx';

/** Pages keep their last answers while the service does not answer, or refuses a part of the page; this says so. */
export function Away() {
  const { reach } = useContext(LiveContext);
  return reach.state === 'away' ? <NoService reach={reach} /> : <Outdated />;
}

function NoService({ reach }: { reach: Reach }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const leftS = Math.max(0, Math.ceil(((reach.nextAt ?? now) - now) / 1_000));
  return (
    <Notice tone="bad" role="alert" title="The service does not answer">
      <div className="row">
        <span>
          {reach.reason} What is on this page is as it was before.{' '}
          <span aria-hidden="true">{leftS > 0 ? `It is tried again in ${leftS} s.` : 'It is tried now.'}</span>
        </span>
        <Button size="xs" variant="default" onClick={reach.tryNow}>
          Try now
        </Button>
      </div>
    </Notice>
  );
}

function Outdated() {
  const answers = useQueryClient().getQueryCache();
  const outdated = useSyncExternalStore(
    useCallback((changed) => answers.subscribe(notifyManager.batchCalls(changed)), [answers]),
    () => answers.findAll({ type: 'active' }).find(({ state }) => state.error && state.dataUpdatedAt > 0)?.state,
  );
  if (!outdated?.error) return null;
  const { error, dataUpdatedAt } = outdated;
  return (
    <Notice tone="bad" role="alert" title={error.message}>
      This page may be outdated: the last answer came <RelativeTime at={new Date(dataUpdatedAt).toISOString()} />.{' '}
      {error instanceof Problem && error.status === 401 && <Link to="/sign-in">Sign in</Link>}
    </Notice>
  );
}

export function Rail(props: { open: boolean; onGo: () => void }) {
  const counts = useCounts();
  const groups = usePlaces();
  return (
    <nav aria-label="Main" className="rail" data-open={props.open} id="rail">
      <Link to="/" className="wordmark" onClick={props.onGo}>
        <Mark /> Innbound
      </Link>
      <div>
        {groups.map(({ title, places }) => (
          <div key={title}>
            <h2>{title}</h2>
            <ul>
              {places.map(({ to, label, icon, count: counted }) => {
                const count = counted && counts?.[counted];
                return (
                  <li key={to}>
                    <Link to={to} activeOptions={{ exact: to === '/' }} onClick={props.onGo}>
                      {icons[icon]}
                      {label}
                      {count !== undefined && count > 0 && (
                        <span className="badge">
                          {number(count)}
                          <span className="visually-hidden"> open</span>
                        </span>
                      )}
                    </Link>
                  </li>
                );
              })}
            </ul>
          </div>
        ))}
      </div>
      <UserMenu />
    </nav>
  );
}
