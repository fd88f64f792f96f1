import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Fragment, type ReactNode, useEffect, useState } from 'react';
import { type ErrorCode, errors } from '../../../src/errors.ts';
import { Problem } from '../api/client.ts';
import { ago, capital, instant, type Tone, words } from './format.ts';
import { icons } from './icons.tsx';

export type { Tone };

/** The head of a page. Its title is also the browser tab's. */
export function Head(props: { title: string; crumb?: ReactNode; lead?: ReactNode; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${props.title} · Innbound`;
  }, [props.title]);
  return (
    <div className="head">
      <div>
        {props.crumb && <div className="crumb">{props.crumb}</div>}
        <h1>{props.title}</h1>
        {props.lead && <p className="lead">{props.lead}</p>}
      </div>
      {props.children && <div className="actions">{props.children}</div>}
    </div>
  );
}

export function Card(props: { title?: string; aside?: ReactNode; flush?: boolean; children: ReactNode }) {
  return (
    <section className="card">
      {(props.title || props.aside) && (
        <header>
          {props.title && <h2>{props.title}</h2>}
          {props.aside && <div className="aside">{props.aside}</div>}
        </header>
      )}
      <div className={props.flush ? 'flush' : 'body'}>{props.children}</div>
    </section>
  );
}

const tones: Record<string, Tone> = {
  healthy: 'good',
  new: 'info',
  complete: 'good',
  delivered: 'good',
  done: 'good',
  replayed: 'good',
  confirmed: 'info',
  checked_in: 'good',
  checked_out: 'calm',
  attention: 'warn',
  incomplete: 'warn',
  retry: 'warn',
  warning: 'warn',
  waiting: 'warn',
  failing: 'bad',
  failed: 'bad',
  stopped: 'warn',
  auth_failed: 'bad',
  dead: 'bad',
  held: 'bad',
  critical: 'bad',
  open: 'bad',
  cancelled: 'calm',
  no_show: 'calm',
  running: 'accent',
  queued: 'info',
};

export function State({ of, tone, label }: { of: string; tone?: Tone; label?: string }) {
  return (
    <span className="state" data-tone={tone ?? tones[of] ?? 'calm'}>
      {label ?? capital(words(of))}
    </span>
  );
}

/** How long ago, updated while the page is open; the exact time on hover. What is to come (`next`) and is over was due: it happens now. */
export function RelativeTime({
  at,
  none = 'never',
  next,
}: {
  at: string | null | undefined;
  none?: string;
  next?: boolean;
}) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 5_000);
    return () => clearInterval(timer);
  }, []);
  if (!at) return <span className="muted">{none}</span>;
  return (
    <time dateTime={at} title={instant(at)} className="nowrap">
      {next && Date.parse(at) <= Date.now() ? 'now' : ago(at)}
    </time>
  );
}

/** Shows that there is nothing here, and what to do about it; `small` inside a page with other content. */
export function Empty(props: { title: string; small?: boolean; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty" data-small={props.small}>
      {!props.small && icons.bell}
      <strong className="title">{props.title}</strong>
      {props.children && <p>{props.children}</p>}
      {props.action}
    </div>
  );
}

export function Notice(props: { tone: Tone; title: ReactNode; children?: ReactNode; role?: 'alert' | 'status' }) {
  return (
    <div className="notice" data-tone={props.tone} role={props.role}>
      <strong>{props.title}</strong>
      {props.children && <div>{props.children}</div>}
    </div>
  );
}

/** Names and values in two columns. */
export function Facts({ facts }: { facts: readonly (readonly [name: ReactNode, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a thing keep their places
        <Fragment key={index}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** What an error code means, and what to do next. */
export const meaning = (code: string): { what: string; next: string } | undefined => errors[code as ErrorCode];

/** `onRetry` repeats an action; without it, what the page shows is read again. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const queries = useQueryClient();
  const problem = error instanceof Problem ? error : undefined;
  const known = problem && meaning(problem.code);
  return (
    <Notice tone="bad" role="alert" title={capital((error as Error).message)}>
      <div className="stack">
        {known && <span>{known.next}</span>}
        <span className="row small muted">
          {problem && <code>{problem.code}</code>}
          {problem?.requestId && <span>request {problem.requestId}</span>}
        </span>
        <div>
          <Button
            size="xs"
            variant="default"
            onClick={onRetry ?? (() => void queries.refetchQueries({ type: 'active' }))}
          >
            Try again
          </Button>
        </div>
      </div>
    </Notice>
  );
}

/** What an answer takes at most before it is called slow. */
const patienceMs = 4_000;

export function Loading() {
  const [waitedS, setWaited] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setWaited((s) => s + patienceMs / 1_000), patienceMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="loading">
      <p className="muted" role="status">
        {waitedS === 0
          ? 'Loading …'
          : `The service answers slowly: nothing for ${waitedS} s. The page comes by itself.`}
      </p>
      <i />
      <i />
      <i />
    </div>
  );
}

export interface Reading<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
}

/** Loading, failed or loaded: a page describes the last of them. */
export function Loaded<T>(props: {
  query: Reading<T>;
  /** Replaces a head that needs the data, so that there is a title and a way back until then. */
  head?: ReactNode;
  children: (data: T) => ReactNode;
}) {
  const { data, error } = props.query;
  if (data !== undefined) return <>{props.children(data)}</>;
  return (
    <>
      {props.head}
      {error ? <Failure error={error} /> : <Loading />}
    </>
  );
}
