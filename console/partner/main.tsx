import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Checklist } from './Checklist.tsx';
import { CommentForm, Thread } from './Comments.tsx';
import { LiveStep } from './LiveStep.tsx';
import { PullStep } from './PullStep.tsx';
import { PushStep } from './PushStep.tsx';
import { Step } from './parts.tsx';
import { fill, languages, TextsContext, useLanguage, useTexts } from './texts.ts';
import type { View } from './types.ts';
import { useView } from './use-view.ts';
import './page.css';

/** Before the link says its language, and where there is no link, the browser's. */
const ownLanguage = navigator.language.slice(0, 2);

function App() {
  const { page, isResting, resume, refresh } = useView();
  const [chosen, setChosen] = useState<string>();
  const pageLanguage = page.kind === 'open' ? page.view.language : page.kind === 'closed' ? page.language : undefined;
  const language = chosen ?? pageLanguage ?? ownLanguage;
  const t = useLanguage(language);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  if (t === undefined || page.kind === 'opening') {
    return (
      <main className="closed" aria-busy="true">
        {page.kind === 'opening' && page.isOffline && <p role="status">{t?.offline}</p>}
      </main>
    );
  }
  if (page.kind === 'closed') {
    const [title, text] = t.closed[page.why];
    return (
      <main className="closed">
        <h1>{title}</h1>
        <p>{text}</p>
      </main>
    );
  }
  return (
    <TextsContext value={{ t, language }}>
      {isResting ? (
        <main className="closed">
          <p>{t.paused}</p>
          <button type="button" onClick={resume}>
            {t.resume}
          </button>
        </main>
      ) : (
        <Connect
          view={page.view}
          isOffline={page.isOffline}
          language={language}
          onLanguage={setChosen}
          refresh={refresh}
        />
      )}
    </TextsContext>
  );
}

type StepName = 'push' | 'pull' | 'checklist' | 'live' | 'talk';

interface ConnectProps {
  readonly view: View;
  readonly isOffline: boolean;
  readonly language: string;
  readonly onLanguage: (language: string) => void;
  readonly refresh: () => void;
}

function Connect({ view, isOffline, language, onLanguage, refresh }: ConnectProps) {
  const { t, day, time } = useTexts();
  const { push, pull, checks, comments, brand } = view;
  // Once the hotel is live, how its feed is doing comes first.
  const isLive = view.state === 'live';
  const steps: StepName[] = [
    ...(isLive ? ['live' as const] : []),
    ...(push ? ['push' as const] : []),
    ...(pull ? ['pull' as const] : []),
    'checklist',
    ...(isLive ? [] : ['live' as const]),
    'talk',
  ];
  const no = (step: StepName) => steps.indexOf(step) + 1;
  const live = (
    <Step id="live" no={no('live')} title={t.steps.live}>
      <LiveStep view={view} refresh={refresh} />
    </Step>
  );
  const done = checks.filter(({ state }) => state === 'done').length;
  return (
    <div className="page">
      <header className="top">
        <div>
          <h1>{fill(t.title, { brand })}</h1>
          <p>{fill(t.intro, { partner: view.partner, date: day(view.expires_at) })}</p>
          <p className="print-only">{fill(t.reportAt, { date: time(new Date().toISOString()) })}</p>
        </div>
        <select
          className="no-print"
          aria-label={t.language}
          value={language}
          onChange={(event) => onLanguage(event.currentTarget.value)}
        >
          {Object.entries(languages).map(([code, name]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
      </header>
      <nav className="no-print" aria-label={t.checks.lead}>
        {steps.map((step) => (
          <a key={step} href={`#${step}`}>
            <span aria-hidden="true">{no(step)}</span> {t.steps[step]}
          </a>
        ))}
      </nav>
      <main>
        {isOffline && <p className="notice bad">{t.offline}</p>}
        {isLive && live}
        {push && (
          <Step id="push" no={no('push')} title={t.steps.push}>
            <PushStep push={push} brand={brand} isLive={isLive} comments={comments} refresh={refresh} />
          </Step>
        )}
        {pull && (
          <Step id="pull" no={no('pull')} title={t.steps.pull}>
            <PullStep pull={pull} comments={comments} refresh={refresh} />
          </Step>
        )}
        <Step id="checklist" no={no('checklist')} title={t.steps.checklist} state={`${done} / ${checks.length}`}>
          <Checklist checks={checks} isComplete={view.is_complete} />
        </Step>
        {!isLive && live}
        <Step id="talk" no={no('talk')} title={t.steps.talk}>
          <p className="no-print">{t.talk.lead}</p>
          <Thread comments={comments} withAbout />
          <CommentForm about="" label={t.talk.write} onDone={refresh} />
        </Step>
      </main>
    </div>
  );
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
