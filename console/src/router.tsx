import { createRootRoute, createRoute, createRouter, Outlet } from '@tanstack/react-router';
import { Alerts } from './pages/Alerts.tsx';
import { Audit } from './pages/Audit.tsx';
import { DeadLetter } from './pages/DeadLetter.tsx';
import { DeadLetters } from './pages/DeadLetters.tsx';
import { Destinations } from './pages/Destinations.tsx';
import { DocumentPage } from './pages/DocumentPage.tsx';
import { Documents } from './pages/Documents.tsx';
import { Event } from './pages/Event.tsx';
import { Events } from './pages/Events.tsx';
import { Guests } from './pages/Guests.tsx';
import { Hotel } from './pages/Hotel.tsx';
import { Incident } from './pages/Incident.tsx';
import { Incidents } from './pages/Incidents.tsx';
import { Integration } from './pages/Integration.tsx';
import { Integrations } from './pages/Integrations.tsx';
import { Job } from './pages/Job.tsx';
import { Jobs } from './pages/Jobs.tsx';
import { NotFound } from './pages/NotFound.tsx';
import { Onboard } from './pages/Onboard.tsx';
import { Overview } from './pages/Overview.tsx';
import { Privacy } from './pages/Privacy.tsx';
import { Reservations } from './pages/Reservations.tsx';
import { Run } from './pages/Run.tsx';
import { Runs } from './pages/Runs.tsx';
import { Secrets } from './pages/Secrets.tsx';
import { Studio } from './pages/Studio.tsx';
import { Timeline } from './pages/Timeline.tsx';
import { Tokens } from './pages/Tokens.tsx';
import * as filters from './shell/filters.ts';
import { Shell } from './shell/Shell.tsx';
import { SignIn } from './shell/SignIn.tsx';

const root = createRootRoute({ component: Outlet });
const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignIn });
const desk = createRoute({ getParentRoute: () => root, id: 'desk', component: Shell });
const at = { getParentRoute: () => desk };

const pages = [
  createRoute({ ...at, path: '/', component: Overview }),
  createRoute({ ...at, path: '/integrations', component: Integrations }),
  createRoute({ ...at, path: '/integrations/$name', component: Integration, validateSearch: filters.integration }),
  createRoute({ ...at, path: '/hotels/$name', component: Hotel }),
  createRoute({ ...at, path: '/reservations/$name/$type/$id', component: Timeline }),
  createRoute({ ...at, path: '/runs', component: Runs, validateSearch: filters.runs }),
  createRoute({ ...at, path: '/runs/$id', component: Run }),
  createRoute({
    ...at,
    path: '/reservations',
    component: Reservations,
    validateSearch: filters.reservations,
  }),
  createRoute({ ...at, path: '/guests', component: Guests, validateSearch: filters.guests }),
  createRoute({
    ...at,
    path: '/dead-letters',
    component: DeadLetters,
    validateSearch: filters.deadLetters,
  }),
  createRoute({ ...at, path: '/dead-letters/$id', component: DeadLetter }),
  createRoute({ ...at, path: '/incidents', component: Incidents }),
  createRoute({ ...at, path: '/incidents/$id', component: Incident }),
  createRoute({ ...at, path: '/jobs', component: Jobs }),
  createRoute({ ...at, path: '/jobs/$id', component: Job }),
  createRoute({ ...at, path: '/alerts', component: Alerts }),
  createRoute({ ...at, path: '/events', component: Events, validateSearch: filters.events }),
  createRoute({ ...at, path: '/events/$name/$seq', component: Event }),
  createRoute({ ...at, path: '/destinations', component: Destinations }),
  createRoute({ ...at, path: '/studio', component: Studio, validateSearch: filters.studio }),
  createRoute({ ...at, path: '/documents', component: Documents }),
  createRoute({ ...at, path: '/documents/$kind/$name', component: DocumentPage, validateSearch: filters.document }),
  createRoute({ ...at, path: '/onboard', component: Onboard }),
  createRoute({ ...at, path: '/privacy', component: Privacy }),
  createRoute({ ...at, path: '/secrets', component: Secrets }),
  createRoute({ ...at, path: '/tokens', component: Tokens }),
  createRoute({ ...at, path: '/audit', component: Audit, validateSearch: filters.audit }),
  createRoute({ ...at, path: '/$', component: NotFound }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([signIn, desk.addChildren(pages)]),
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
