import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react';
import { post } from '../api/client.ts';
import type { Session } from '../api/types.ts';
import { Mark } from '../parts/icons.tsx';

/** By a one-time link, whose token stands after # and so is never sent in an address, or by a token that is typed in. */
export function SignIn() {
  const [said, setSaid] = useState<string>();
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const tried = useRef(false);
  const enter = useCallback(
    async (token: string) => {
      setBusy(true);
      try {
        await post<Session>('/session', { token });
        queries.clear();
        await navigate({ to: '/', replace: true });
      } catch (error) {
        setSaid((error as Error).message);
        setBusy(false);
      }
    },
    [navigate, queries],
  );
  useEffect(() => {
    document.title = 'Sign in · Innbound';
    const token = location.hash.slice(1);
    if (token === '' || tried.current) return;
    tried.current = true;
    history.replaceState(null, '', '/sign-in');
    void enter(token);
  }, [enter]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim();
    // A whole link is as good as the token in it.
    if (token !== '') void enter(token.split('#').at(-1) ?? token);
  };
  return (
    <main className="door">
      <div className="door-card">
        <div className="wordmark">
          <Mark /> Innbound
        </div>
        <h1>{busy ? 'Opening the desk …' : 'The desk is closed to strangers'}</h1>
        {said && (
          <p className="said" role="alert">
            {said}
          </p>
        )}
        <p>Ask for a one-time link where the service runs. It opens the console once, within a day:</p>
        <code>bin/innbound token sign-in --role operator</code>
        <form onSubmit={submit} className="stack">
          <label>
            Or paste a link or token
            <input name="token" type="password" autoComplete="off" required minLength={8} />
          </label>
          <div>
            <Button type="submit" loading={busy}>
              Sign in
            </Button>
          </div>
        </form>
      </div>
    </main>
  );
}
