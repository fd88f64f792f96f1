import { createRootRoute, createRoute, createRouter, Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Overview } from './pages/Overview.tsx';
import { patiently } from './parts/patiently.tsx';
import * as filters from './shell/filters.ts';
import { Shell } from './shell/Shell.tsx';
import { SignIn } from './shell/SignIn.tsx';

/** Without the page's type, which depends on the router's. */
const page = (load: () => Promise<unknown>) => patiently(load as () => Promise<() => ReactNode>);

const root = createRootRoute({ component: Outlet });
const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignIn });
const shell = createRoute({ getParentRoute: () => root, id: 'console', component: Shell });
const at = { getParentRoute: () => shell };

// The overview is in the first file; every other page is loaded when it is opened.
const pages = [
  createRoute({ ...at, path: '/', component: Overview }),
  createRoute({
    ...at,
    path: '/performance',
    component: page(async () => (await import('./pages/Performance.tsx')).Performance),
  }),
  createRoute({
    ...at,
    path: '/integrations',
    component: page(async () => (await import('./pages/Integrations.tsx')).Integrations),
  }),
  createRoute({
    ...at,
    path: '/integrations/$name',
    component: page(async () => (await import('./pages/Integration.tsx')).Integration),
    validateSearch: filters.integration,
  }),
  createRoute({
    ...at,
    path: '/hotels/$name',
    component: page(async () => (await import('./pages/Hotel.tsx')).Hotel),
  }),
  createRoute({
    ...at,
    path: '/reservations/$name/$type/$id',
    component: page(async () => (await import('./pages/Timeline.tsx')).Timeline),
  }),
  createRoute({
    ...at,
    path: '/runs',
    component: page(async () => (await import('./pages/Runs.tsx')).Runs),
    validateSearch: filters.runs,
  }),
  createRoute({ ...at, path: '/runs/$id', component: page(async () => (await import('./pages/Run.tsx')).Run) }),
  createRoute({
    ...at,
    path: '/reservations',
    component: page(async () => (await import('./pages/Reservations.tsx')).Reservations),
    validateSearch: filters.reservations,
  }),
  createRoute({
    ...at,
    path: '/guests',
    component: page(async () => (await import('./pages/Guests.tsx')).Guests),
    validateSearch: filters.guests,
  }),
  createRoute({
    ...at,
    path: '/dead-letters',
    component: page(async () => (await import('./pages/DeadLetters.tsx')).DeadLetters),
    validateSearch: filters.deadLetters,
  }),
  createRoute({
    ...at,
    path: '/dead-letters/$id',
    component: page(async () => (await import('./pages/DeadLetter.tsx')).DeadLetter),
  }),
  createRoute({
    ...at,
    path: '/incidents',
    component: page(async () => (await import('./pages/Incidents.tsx')).Incidents),
  }),
  createRoute({
    ...at,
    path: '/incidents/$id',
    component: page(async () => (await import('./pages/Incident.tsx')).Incident),
  }),
  createRoute({ ...at, path: '/holds/$id', component: page(async () => (await import('./pages/Hold.tsx')).Hold) }),
  createRoute({
    ...at,
    path: '/night',
    component: page(async () => (await import('./pages/Night.tsx')).Night),
    validateSearch: filters.night,
  }),
  createRoute({ ...at, path: '/jobs', component: page(async () => (await import('./pages/Jobs.tsx')).Jobs) }),
  createRoute({ ...at, path: '/jobs/$id', component: page(async () => (await import('./pages/Job.tsx')).Job) }),
  createRoute({ ...at, path: '/alerts', component: page(async () => (await import('./pages/Alerts.tsx')).Alerts) }),
  createRoute({
    ...at,
    path: '/events',
    component: page(async () => (await import('./pages/Events.tsx')).Events),
    validateSearch: filters.events,
  }),
  createRoute({
    ...at,
    path: '/events/$name/$seq',
    component: page(async () => (await import('./pages/Event.tsx')).Event),
  }),
  createRoute({
    ...at,
    path: '/destinations',
    component: page(async () => (await import('./pages/Destinations.tsx')).Destinations),
  }),
  createRoute({
    ...at,
    path: '/studio',
    component: page(async () => (await import('./pages/Studio.tsx')).Studio),
    validateSearch: filters.studio,
  }),
  createRoute({
    ...at,
    path: '/documents',
    component: page(async () => (await import('./pages/Documents.tsx')).Documents),
  }),
  createRoute({
    ...at,
    path: '/documents/$kind/$name',
    component: page(async () => (await import('./pages/DocumentPage.tsx')).DocumentPage),
    validateSearch: filters.document,
  }),
  createRoute({
    ...at,
    path: '/onboard',
    component: page(async () => (await import('./pages/Onboard.tsx')).Onboard),
  }),
  createRoute({
    ...at,
    path: '/privacy',
    component: page(async () => (await import('./pages/Privacy.tsx')).Privacy),
  }),
  createRoute({
    ...at,
    path: '/secrets',
    component: page(async () => (await import('./pages/Secrets.tsx')).Secrets),
  }),
  createRoute({ ...at, path: '/people', component: page(async () => (await import('./pages/People.tsx')).People) }),
  createRoute({ ...at, path: '/tokens', component: page(async () => (await import('./pages/Tokens.tsx')).Tokens) }),
  createRoute({
    ...at,
    path: '/audit',
    component: page(async () => (await import('./pages/Audit.tsx')).Audit),
    validateSearch: filters.audit,
  }),
  createRoute({ ...at, path: '/$', component: page(async () => (await import('./pages/NotFound.tsx')).NotFound) }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([signIn, shell.addChildren(pages)]),
  // Plain words instead of the router's JSON, so that people can read and share an address.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
