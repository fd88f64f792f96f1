import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/types.ts';
import { Ago, State } from '../../parts/basics.tsx';
import { brandsText, number, plural } from '../../parts/format.ts';

type Cause = Overview['causes'][number];
type Brand = Overview['health'][number];

type Finding = Brand['findings'][number];

/** Whether a cause that is known states what a brand's finding states: its own, or the same of many brands. */
export const isOf = (cause: Cause, finding: Finding): boolean =>
  cause.cause === finding.cause || (cause.cause.startsWith('brands:') && cause.kind === finding.kind);

/** What is found for a brand beyond the causes that are known. */
export const uncovered = ({ findings }: Brand, causes: readonly Cause[]): Finding[] =>
  findings.filter((finding) => !causes.some((cause) => isOf(cause, finding)));

/** Faults that were found a moment ago, each cause once: the alerts, and with them the incidents, follow within a minute. */
function newFaults({ health, causes }: Overview): { message: string; brands: string[] }[] {
  const faults = health.flatMap((brand) =>
    uncovered(brand, causes)
      .filter(({ state }) => state === 'failing' || state === 'auth_failed')
      .map(({ cause, message }) => ({ cause, message, brand: brand.integration })),
  );
  return [...Map.groupBy(faults, ({ cause }) => cause).values()].map((group) => ({
    message: [...new Set(group.map(({ message }) => message))].join(' '),
    brands: [...new Set(group.map(({ brand }) => brand))],
  }));
}

/** What is wrong: each cause once, with whom it concerns, since when, its effect, and the one thing to do. */
export function Causes({ data }: { data: Overview }) {
  const { causes } = data;
  const faults = newFaults(data);
  const count = causes.length + faults.length;
  if (count === 0) return null;
  const isCritical = faults.length > 0 || causes.some(({ severity }) => severity === 'critical');
  return (
    <section className="causes" data-tone={isCritical ? 'bad' : 'warn'} aria-labelledby="causes">
      <h2 id="causes">{count === 1 ? 'One thing is wrong' : `${number(count)} things are wrong`}</h2>
      <ul>
        {causes.map((cause) => (
          <li key={cause.incident_id}>
            <div>
              <div className="row">
                <Link to="/incidents/$id" params={{ id: cause.incident_id }} className="title">
                  {cause.title}
                </Link>
                <State of={cause.severity} />
                {cause.acknowledged_by && <State of="calm" label={`Acknowledged by ${cause.acknowledged_by}`} />}
              </div>
              <p>{cause.message}</p>
              <p className="muted small">
                Began <Ago at={cause.since} /> · {effectText(cause)}
              </p>
            </div>
            <Remedy cause={cause} />
          </li>
        ))}
        {faults.slice(0, mostFaults).map(({ message, brands }) => (
          <li key={message}>
            <div>
              <div className="row">
                <strong>{brandsText(brands)}</strong>
                <State of="failing" />
              </div>
              <p>{message}</p>
            </div>
            {brands.length === 1 && (
              <Button {...look} component={Link} to={`/integrations/${encodeURIComponent(brands[0] ?? '')}`}>
                Open the brand
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const look = { className: 'remedy', size: 'xs', variant: 'default' } as const;
const mostFaults = 10;

function effectText({ cause, kind: of, brands, integrations, waiting, dead_letters }: Cause): string {
  const [kind] = cause.split(':', 1);
  return [
    integrations.length > 0
      ? `concerns ${brandsText(integrations)}`
      : brands > 0 && `concerns ${plural(brands, 'brand')}`,
    kind === 'destination' && `${plural(waiting, 'booking')} waiting`,
    of.startsWith('dead_letter') && plural(dead_letters, 'open dead letter'),
  ]
    .filter((one) => typeof one === 'string')
    .join(' · ');
}

/** The one button: to the place where the cause can be ended. */
function Remedy({ cause }: { cause: Cause }) {
  const [to, label] = remedyOf(cause);
  return (
    <Button {...look} component={Link} to={to}>
      {label}
    </Button>
  );
}

function remedyOf({ kind, cause, incident_id, integrations }: Cause): readonly [to: string, label: string] {
  if (cause.startsWith('destination:')) return ['/destinations', 'See its answers'];
  if (kind === 'document_broken') return ['/documents', 'Open the documents'];
  const [name, ...others] = integrations;
  if (name === undefined || others.length > 0) return [`/incidents/${incident_id}`, 'What to do'];
  const only = encodeURIComponent(name);
  if (kind === 'rows_held') return [`/integrations/${only}`, 'Release or refuse'];
  if (kind === 'dead_letters_growing') return [`/dead-letters?integration=${only}`, 'Open the dead letters'];
  const push = cause.startsWith('push:') && 'See what is refused';
  return [`/integrations/${only}`, kind === 'auth_failed' ? 'Test and resume' : push || 'Open the brand'];
}
