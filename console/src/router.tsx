import { createRootRoute, createRoute, createRouter, Link, Outlet } from '@tanstack/react-router';
import { Alerts } from './pages/Alerts.tsx';
import { Audit } from './pages/Audit.tsx';
import { DeadLetter } from './pages/DeadLetter.tsx';
import { DeadLetters } from './pages/DeadLetters.tsx';
import { Destinations } from './pages/Destinations.tsx';
import { DocumentPage, Documents } from './pages/Documents.tsx';
import { Event } from './pages/Event.tsx';
import { Events } from './pages/Events.tsx';
import { Integration } from './pages/Integration.tsx';
import { Integrations } from './pages/Integrations.tsx';
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
import { Card, Empty, Head } from './parts/basics.tsx';
import { Shell } from './shell/Shell.tsx';
import { SignIn } from './shell/SignIn.tsx';

/** What stands after ? in the address of a list: filters that a link can carry. */
function filters<const Key extends string>(...keys: readonly Key[]) {
  return (search: Record<string, unknown>): { [key in Key]?: string | undefined } => {
    const given: { [key in Key]?: string | undefined } = {};
    for (const key of keys) {
      const value = search[key];
      if (value !== undefined && value !== '') given[key] = String(value);
    }
    return given;
  };
}

const root = createRootRoute({ component: Outlet });
const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignIn });
const desk = createRoute({ getParentRoute: () => root, id: 'desk', component: Shell });
const at = { getParentRoute: () => desk };

const pages = [
  createRoute({ ...at, path: '/', component: Overview }),
  createRoute({ ...at, path: '/integrations', component: Integrations }),
  createRoute({ ...at, path: '/integrations/$name', component: Integration }),
  createRoute({ ...at, path: '/reservations/$name/$type/$id', component: Timeline }),
  createRoute({ ...at, path: '/runs', component: Runs, validateSearch: filters('integration', 'status') }),
  createRoute({ ...at, path: '/runs/$id', component: Run }),
  createRoute({
    ...at,
    path: '/reservations',
    component: Reservations,
    validateSearch: filters('q', 'integration', 'status', 'type'),
  }),
  createRoute({
    ...at,
    path: '/dead-letters',
    component: DeadLetters,
    validateSearch: filters('integration', 'kind', 'code', 'destination', 'state'),
  }),
  createRoute({ ...at, path: '/dead-letters/$id', component: DeadLetter }),
  createRoute({ ...at, path: '/alerts', component: Alerts }),
  createRoute({ ...at, path: '/events', component: Events, validateSearch: filters('integration', 'state') }),
  createRoute({ ...at, path: '/events/$name/$seq', component: Event }),
  createRoute({ ...at, path: '/destinations', component: Destinations }),
  createRoute({ ...at, path: '/studio', component: Studio, validateSearch: filters('connector', 'letter') }),
  createRoute({ ...at, path: '/documents', component: Documents }),
  createRoute({ ...at, path: '/documents/$kind/$name', component: DocumentPage, validateSearch: filters('version') }),
  createRoute({ ...at, path: '/onboard', component: Onboard }),
  createRoute({ ...at, path: '/privacy', component: Privacy }),
  createRoute({ ...at, path: '/secrets', component: Secrets }),
  createRoute({ ...at, path: '/tokens', component: Tokens }),
  createRoute({ ...at, path: '/audit', component: Audit, validateSearch: filters('actor', 'action', 'integration') }),
  createRoute({ ...at, path: '/$', component: Lost }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([signIn, desk.addChildren(pages)]),
  // Filters in an address are plain words, so that people can read and share them.
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

function Lost() {
  return (
    <>
      <Head title="No such page" />
      <Card>
        <Empty title="Nothing is kept at this address" action={<Link to="/">Back to the overview</Link>} />
      </Card>
    </>
  );
}
