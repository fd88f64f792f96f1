import { Link, Navigate, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { type FormEvent, Suspense, useEffect, useRef, useState } from 'react';
import { Problem } from '../api/client.ts';
import { LiveContext, useLiveFeed } from '../api/live.ts';
import { Failure, Loading } from '../parts/basics.tsx';
import { icons, Mark } from '../parts/icons.tsx';
import { Dialogs, isTyping } from './Dialogs.tsx';
import { useFocusReturn } from './focus-return.ts';
import { useCounts } from './overview.ts';
import { Away, Rail } from './Rail.tsx';
import { useSession } from './session.ts';

/** The page that somebody had to sign in for. Kept by the tab: an identity provider leads back to the overview. */
const wanted = 'innbound wanted page';

/** The frame of every page once somebody is signed in. */
export function Shell() {
  const session = useSession();
  if (session.error instanceof Problem && session.error.status === 401) {
    if (location.pathname !== '/sign-in') sessionStorage.setItem(wanted, location.pathname + location.search);
    return <Navigate to="/sign-in" />;
  }
  // A page that is open stays: the service may be restarting.
  if (session.error && !session.data) {
    return (
      <main className="main">
        <Failure error={session.error} />
        <Again often={() => void session.refetch()} />
      </main>
    );
  }
  return session.data ? <Frame /> : null;
}

/** A page that was opened while the service was away comes by itself. */
function Again({ often }: { often: () => void }) {
  useEffect(() => {
    const timer = setInterval(often, 3_000);
    return () => clearInterval(timer);
  }, [often]);
  return <p className="muted small">It is tried again every few seconds.</p>;
}

function Frame() {
  const live = useLiveFeed();
  const [menu, setMenu] = useState(false);
  const main = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useFocusReturn(main, pathname);
  const navigate = useNavigate();
  useEffect(() => {
    const href = sessionStorage.getItem(wanted);
    sessionStorage.removeItem(wanted);
    if (href) void navigate({ href, replace: true });
  }, [navigate]);
  return (
    <LiveContext value={live}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div className="shell">
        <nav className="topbar" aria-label="Start">
          <Link to="/" className="wordmark">
            <Mark /> Innbound
          </Link>
        </nav>
        <Rail open={menu} onGo={() => setMenu(false)} />
        <main className="main" id="main" tabIndex={-1} ref={main}>
          <Finder />
          <Away />
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
        <TabBar open={menu} onMore={() => setMenu((open) => !open)} onGo={() => setMenu(false)} />
      </div>
      <Dialogs />
    </LiveContext>
  );
}

/** Search from any page, with `/` as its shortcut: "where is this reservation?" is the most frequent question. */
function Finder() {
  const input = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ to: '/reservations', search: { q: input.current?.value.trim() ?? '' } });
  };
  return (
    <search>
      <form className="finder" onSubmit={submit}>
        {icons.search}
        <input
          ref={input}
          type="search"
          aria-label="Find a reservation"
          placeholder="Find a reservation: number, name, e-mail, phone, room, arrival"
          autoComplete="off"
        />
        <kbd title="Press / to search">/</kbd>
      </form>
    </search>
  );
}

function TabBar(props: { open: boolean; onMore: () => void; onGo: () => void }) {
  const counts = useCounts();
  const tabs = [
    { to: '/', label: 'Overview', icon: icons.overview, dot: (counts?.wrong ?? 0) > 0 },
    { to: '/reservations', label: 'Reservations', icon: icons.search, dot: false },
    { to: '/dead-letters', label: 'Dead letters', icon: icons.dead, dot: (counts?.open_dead_letters ?? 0) > 0 },
    { to: '/integrations', label: 'Integrations', icon: icons.integrations, dot: false },
  ];
  return (
    <nav className="tabbar" aria-label="Quick">
      {tabs.map(({ to, label, icon, dot }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/' }} onClick={props.onGo}>
          {icon}
          {dot && <i className="dot" />}
          {label}
        </Link>
      ))}
      <button type="button" onClick={props.onMore} aria-expanded={props.open} aria-controls="rail">
        {icons.more}
        {props.open ? 'Close' : 'More'}
      </button>
    </nav>
  );
}
