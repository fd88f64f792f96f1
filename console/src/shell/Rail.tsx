import { notifyManager, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useSyncExternalStore } from 'react';
import { Problem } from '../api/client.ts';
import { Ago, Notice } from '../parts/basics.tsx';
import { number } from '../parts/format.ts';
import { icons, Mark } from '../parts/icons.tsx';
import { useCounts } from './overview.ts';
import { usePlaces } from './places.ts';
import { UserMenu } from './UserMenu.tsx';

/** Pages keep their last answers while the service does not answer, or refuses a part of the page; this says so. */
export function Away() {
  const answers = useQueryClient().getQueryCache();
  const outdated = useSyncExternalStore(
    useCallback((changed) => answers.subscribe(notifyManager.batchCalls(changed)), [answers]),
    () => answers.findAll({ type: 'active' }).find(({ state }) => state.error && state.dataUpdatedAt > 0)?.state,
  );
  if (!outdated?.error) return null;
  const { error, dataUpdatedAt } = outdated;
  return (
    <Notice tone="bad" role="alert" title={error.message}>
      This page may be outdated: the last answer came <Ago at={new Date(dataUpdatedAt).toISOString()} />.{' '}
      {error instanceof Problem && error.status === 401 && <Link to="/sign-in">Sign in</Link>}
    </Notice>
  );
}

export function Rail(props: { open: boolean; live: boolean; onGo: () => void }) {
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
      <UserMenu live={props.live} />
    </nav>
  );
}
