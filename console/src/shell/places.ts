import type { icons } from '../parts/icons.tsx';
import { useMay, useSeesAllBrands } from './session.ts';

export interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: keyof typeof icons;
  /** The number that its badge shows. */
  readonly count?: 'open_dead_letters' | 'open_alerts' | 'wrong';
}

/** The pages that somebody may open, in groups. */
export function usePlaces(): { title: string; places: Place[] }[] {
  const all = useSeesAllBrands();
  const admin = useMay('admin') && all;
  return [
    {
      title: 'Monitor',
      places: [
        { to: '/', label: 'Overview', icon: 'overview' },
        { to: '/performance', label: 'Performance', icon: 'performance' },
        { to: '/reservations', label: 'Reservations', icon: 'search' },
        { to: '/guests', label: 'Guests', icon: 'guests' },
        { to: '/dead-letters', label: 'Dead letters', icon: 'dead', count: 'open_dead_letters' },
        { to: '/incidents', label: 'Incidents', icon: 'incidents', count: 'wrong' },
        { to: '/alerts', label: 'Alerts', icon: 'alerts', count: 'open_alerts' },
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
              { to: '/people', label: 'People', icon: 'guests' },
              { to: '/tokens', label: 'Tokens', icon: 'tokens' },
              { to: '/audit', label: 'Audit', icon: 'audit' },
            ] as Place[],
          },
        ]
      : []),
  ];
}
