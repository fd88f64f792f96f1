import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useCallback, useEffect, useRef, useState } from 'react';
import { call } from '../api/client.ts';
import { useApi } from '../api/query.tsx';
import { Mark } from '../parts/icons.tsx';

/** Signs in through the identity provider, if one is configured, by a one-time link, or by a token that is pasted. The link has its token after #, which browsers do not send. */
export function SignIn() {
  const [refusal, setRefusal] = useState<string>();
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const tried = useRef('');
  const enter = useCallback(
    async (token: string) => {
      setBusy(true);
      try {
        await call('session.create', { token });
        queries.clear();
        await navigate({ to: '/', replace: true });
      } catch (error) {
        setRefusal((error as Error).message);
        setBusy(false);
      }
    },
    [navigate, queries],
  );
  useEffect(() => {
    document.title = 'Sign in · Innbound';
    const enterByLink = () => {
      const token = location.hash.slice(1);
      if (token === '' || token === tried.current) return;
      tried.current = token;
      history.replaceState(null, '', '/sign-in');
      void enter(token);
    };
    enterByLink();
    // A link that is opened in a tab which already shows this page only changes the part after #.
    addEventListener('hashchange', enterByLink);
    return () => removeEventListener('hashchange', enterByLink);
  }, [enter]);
  const { data: ways } = useApi('session.ways', {}, { retry: false });
  const enterByProvider = async () => {
    setBusy(true);
    try {
      const { url } = await call('session.oidc');
      location.assign(url);
    } catch (error) {
      setRefusal((error as Error).message);
      setBusy(false);
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim();
    // A pasted link works too: its token is the part after #.
    if (token !== '') void enter(token.split('#').at(-1) ?? token);
  };
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <div className="wordmark">
          <Mark /> Innbound
        </div>
        <h1>{busy ? 'Signing in …' : 'Sign in'}</h1>
        {refusal && (
          <p className="refusal" role="alert">
            {refusal}
          </p>
        )}
        {ways?.oidc && (
          <Button fullWidth loading={busy} onClick={() => void enterByProvider()}>
            {ways.oidc.label}
          </Button>
        )}
        <p>
          {ways?.oidc ? 'Or create' : 'Create'} a one-time link on the machine that runs the service. It works once,
          within a day:
        </p>
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
