import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { call, Problem } from '../api/client.ts';
import { useEvery } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import type { Overview } from '../api/types.ts';
import { Ago, Notice } from '../parts/basics.tsx';
import { forgetTabDrafts } from '../parts/draft.ts';
import { number } from '../parts/format.ts';
import { icons, Mark } from '../parts/icons.tsx';
import { useSay } from '../parts/toast.tsx';
import { useMay, useSeesAllBrands, useSession } from './session.ts';

interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: keyof typeof icons;
  readonly count?: number | undefined;
}

const useOverview = () => useApi('overview.get', { period: '15m' }, { everyMs: useEvery(10) });
export const useCounts = (): Overview['totals'] | undefined => useOverview().data?.totals;

/** Pages keep their last answers while the service does not answer; this says so. */
export function Away() {
  const { error, dataUpdatedAt } = useOverview();
  if (!error || dataUpdatedAt === 0) return null;
  return (
    <Notice tone="bad" role="alert" title={error.message}>
      This page may be outdated: the last answer came <Ago at={new Date(dataUpdatedAt).toISOString()} />.
    </Notice>
  );
}

export function Rail(props: { open: boolean; live: boolean; onGo: () => void }) {
  const counts = useCounts();
  const all = useSeesAllBrands();
  const admin = useMay('admin') && all;
  const groups: { title: string; places: Place[] }[] = [
    {
      title: 'Monitor',
      places: [
        { to: '/', label: 'Overview', icon: 'overview' },
        { to: '/reservations', label: 'Reservations', icon: 'search' },
        { to: '/guests', label: 'Guests', icon: 'guests' },
        { to: '/dead-letters', label: 'Dead letters', icon: 'dead', count: counts?.open_dead_letters },
        { to: '/incidents', label: 'Incidents', icon: 'incidents' },
        { to: '/alerts', label: 'Alerts', icon: 'alerts', count: counts?.open_alerts },
        { to: '/jobs', label: 'Jobs', icon: 'jobs' },
      ],
    },
    {
      title: 'Data flow',
      places: [
        { to: '/integrations', label: 'Integrations', icon: 'integrations' },
        { to: '/runs', label: 'Runs', icon: 'runs' },
        { to: '/events', label: 'Events', icon: 'events' },
        { to: '/destinations', label: 'Destinations', icon: 'destinations' },
      ],
    },
    ...(all
      ? [
          {
            title: 'Configure',
            places: [
              { to: '/studio', label: 'Mapping studio', icon: 'studio' },
              { to: '/documents', label: 'Documents', icon: 'documents' },
              ...(admin ? [{ to: '/onboard', label: 'Connect a brand', icon: 'onboard' } as const] : []),
            ] as Place[],
          },
        ]
      : []),
    ...(admin
      ? [
          {
            title: 'Administration',
            places: [
              { to: '/privacy', label: 'Privacy', icon: 'privacy' },
              { to: '/secrets', label: 'Secrets', icon: 'secrets' },
              { to: '/tokens', label: 'Tokens', icon: 'tokens' },
              { to: '/audit', label: 'Audit', icon: 'audit' },
            ] as Place[],
          },
        ]
      : []),
  ];
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
              {places.map(({ to, label, icon, count }) => (
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
              ))}
            </ul>
          </div>
        ))}
      </div>
      <Foot live={props.live} />
    </nav>
  );
}

function Foot({ live }: { live: boolean }) {
  const { data: who } = useSession();
  const { error } = useOverview();
  const say = useSay();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('dark');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const leave = async (how: 'session.end' | 'session.end_everywhere') => {
    try {
      await call(how);
    } catch (error) {
      const isOver = error instanceof Problem && error.status === 401;
      if (!isOver) return say(`You are still signed in. ${(error as Error).message}`, 'bad');
    }
    queries.clear();
    forgetTabDrafts();
    await navigate({ to: '/sign-in' });
  };
  return (
    <div className="rail-foot">
      <span className="live" data-on={live && !error}>
        <i />
        {error ? 'No connection' : live ? 'Live' : 'Polling every few seconds'}
      </span>
      <div className="who">
        <span title={who?.name}>{who?.name}</span>
        <span className="role">{who?.role}</span>
      </div>
      <div className="row">
        <button
          type="button"
          className="rail-button"
          onClick={() => setColorScheme(scheme === 'dark' ? 'light' : 'dark')}
        >
          {scheme === 'dark' ? 'Light' : 'Dark'}
          <span className="visually-hidden"> theme</span>
        </button>
        <button type="button" className="rail-button" onClick={() => void leave('session.end')}>
          Sign out
        </button>
        <button
          type="button"
          className="rail-button"
          title="Ends your sessions in every browser"
          onClick={() => void leave('session.end_everywhere')}
        >
          Sign out everywhere
        </button>
      </div>
    </div>
  );
}
