import { Button } from '@mantine/core';
import { call } from '../api/client.ts';
import { useAct } from '../api/query.tsx';
import type { Integration } from '../api/types.ts';
import { useMay } from '../shell/session.ts';
import { plural } from './format.ts';
import { Release } from './Release.tsx';

type Finding = Integration['findings'][number];
type Action = Exclude<NonNullable<Finding['action']>, 'release'>;

const labels: Readonly<Record<Action, string>> = {
  resume: 'Resume',
  test_and_resume: 'Test and resume',
  try_now: 'Try now',
  try_destination: 'Try now',
};

/** One button for what waits: of a brand, or of a destination. */
export function TryNow({ action, of }: { action: Action; of: string }) {
  const operator = useMay('operator');
  const act = useAct(
    async () => {
      if (action === 'try_destination') {
        const { replayed } = await call('destinations.try_now', { destination: of });
        return `${of} is tried now${replayed > 0 ? `: ${plural(replayed, 'dead letter')} sent again` : ''}.`;
      }
      if (action === 'try_now') {
        const { runs } = await call('integrations.try_now', { integration: of });
        return runs > 0
          ? `${plural(runs, 'waiting run')} continued.`
          : 'No run waits; the next request is sent at once.';
      }
      const test = action === 'test_and_resume';
      await call('integrations.resume', { integration: of, test });
      return test ? 'The partner accepts the credentials. Pulling resumes now.' : 'Pulling resumes now.';
    },
    (message) => message,
  );
  if (!operator) return null;
  const label = labels[action];
  return (
    <Button
      size="xs"
      variant="default"
      aria-label={`${label}: ${of}`}
      loading={act.isPending}
      onClick={() => act.mutate(undefined)}
    >
      {label}
    </Button>
  );
}

/** The buttons of a brand's findings, each once. */
export function Remedies({ integration, findings }: { integration: string; findings: readonly Finding[] }) {
  const wanted = findings.flatMap(({ action, subject }) =>
    action && action !== 'release' ? [{ action, of: action === 'try_destination' ? subject : integration }] : [],
  );
  const previews = findings.filter(({ action }) => action === 'release');
  const once = new Map(wanted.map((one) => [`${one.action} ${one.of}`, one]));
  if (!useMay('operator') || once.size + previews.length === 0) return null;
  return (
    <div className="row">
      {[...once].map(([key, one]) => (
        <span key={key} className="row">
          {one.action === 'try_destination' && <span className="small muted">{one.of}</span>}
          <TryNow {...one} />
        </span>
      ))}
      {previews.map(({ subject }) => (
        <span key={subject} className="row">
          <span className="small muted">{subject}</span>
          <Release integration={integration} destination={subject} />
        </span>
      ))}
    </div>
  );
}
