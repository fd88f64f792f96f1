import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/types.ts';
import { RelativeTime, State } from '../../parts/basics.tsx';
import { type Cause, type Faults, faultsOf, isFault, thingsWrong } from '../../parts/faults.ts';
import { brandsText, plural } from '../../parts/format.ts';

/** What is wrong: each cause once, the one that concerns most first, with since when, its effect, and the one thing to do. */
export function Causes({ data }: { data: Overview }) {
  const { everywhere, shown, folded, count } = faultsOf(data);
  const waiting = data.causes.filter((cause) => !isFault(cause));
  const hasFound = [everywhere, shown, folded].some(({ found }) => found.length > 0);
  const isCritical = hasFound || data.causes.some(({ severity }) => severity === 'critical');
  const first = everywhere.causes.length + everywhere.found.length;
  const others = folded.causes.length + folded.found.length;
  return (
    <>
      {count > 0 && (
        <section className="causes" data-tone={isCritical ? 'bad' : 'warn'} aria-labelledby="causes">
          <h2 id="causes">{thingsWrong(count)}</h2>
          <List causes={everywhere.causes} />
          <Found faults={everywhere.found} />
          <List causes={shown.causes} />
          <Found faults={shown.found} />
          {others > 0 && (
            <details>
              <summary>
                {plural(others, 'other')}
                {first > 0 && ', which may be its effect'}
              </summary>
              <List causes={folded.causes} />
              <Found faults={folded.found} />
            </details>
          )}
        </section>
      )}
      {waiting.length > 0 && (
        <section className="causes" data-tone="calm" aria-labelledby="waiting">
          <h2 id="waiting">Waiting for you</h2>
          <List causes={waiting} />
        </section>
      )}
    </>
  );
}

function List({ causes }: { causes: readonly Cause[] }) {
  if (causes.length === 0) return null;
  return (
    <ul>
      {causes.map((cause) => (
        <li key={cause.incident_id}>
          <div>
            <div className="row">
              <Link to="/incidents/$id" params={{ id: cause.incident_id }} className="title">
                {cause.title}
              </Link>
              {isFault(cause) && <State of={cause.severity} />}
              {cause.acknowledged_by && <State of="calm" label={`Acknowledged by ${cause.acknowledged_by}`} />}
            </div>
            <p>{cause.message}</p>
            <p className="muted small">
              Began <RelativeTime at={cause.since} /> · {effectText(cause)}
            </p>
          </div>
          <Remedy cause={cause} />
        </li>
      ))}
    </ul>
  );
}

function Found({ faults }: { faults: Faults['shown']['found'] }) {
  if (faults.length === 0) return null;
  return (
    <ul>
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
  );
}

const look = { className: 'remedy', size: 'xs', variant: 'default' } as const;
const mostFaults = 10;

function effectText({ cause, kind: of, brands, integrations, bookings, waiting, dead_letters }: Cause): string {
  const [kind] = cause.split(':', 1);
  return [
    integrations.length > 0
      ? `concerns ${brandsText(integrations)}`
      : brands > 0 && `concerns ${plural(brands, 'brand')}`,
    bookings > 0 && plural(bookings, 'booking'),
    kind === 'destination' && waiting > 0 && `${plural(waiting, 'change')} waiting`,
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
  if (kind === 'partner_waiting') return [`/integrations/${only}?tab=onboarding`, 'Look and answer'];
  if (kind === 'rows_held') return [`/integrations/${only}`, 'Release or refuse'];
  if (kind === 'dead_letters_growing') return [`/dead-letters?integration=${only}`, 'Open the dead letters'];
  const label = { auth_failed: 'Test and resume', webhooks_refused: 'See what is refused' }[kind];
  return [`/integrations/${only}`, label ?? 'Open the brand'];
}
