import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Overview } from '../../api/types.ts';
import { Card, type Tone } from '../../parts/basics.tsx';
import { isOf, worst } from '../../parts/faults.ts';
import { number, plural, span } from '../../parts/format.ts';
import { Mark } from '../../parts/icons.tsx';
import { perMinute } from '../../parts/steps.ts';

type Brand = Overview['health'][number];

interface Place {
  readonly key: string;
  readonly label: string;
  readonly tone: Tone;
  readonly perMinute: number;
  /** Something moved in the last minute. */
  readonly moves: boolean;
  readonly detail: string;
  /** To the cause, if something is wrong; else to the thing. */
  readonly to: string;
}

const toneOf = (state: Brand['state']): Tone =>
  worst[state] >= 4 ? 'bad' : state === 'attention' ? 'warn' : state === 'healthy' ? 'good' : 'calm';

/** With more brands than this, the picture shows the partners' systems. */
const mostPlaces = 8;
/** The distance between two places of a column, in pixels. */
const rowHeight = 50;

/** The flow as a picture: partners, Innbound, destinations. The width of a line is its rate, its colour the health. */
export function Flow({ data, periodMs }: { data: Overview; periodMs: number }) {
  const rateOf = (count: number) => perMinute(count, data, periodMs);
  const left = partners(data, rateOf);
  const right = destinations(data, rateOf);
  if (left.length === 0) return null;
  const height = Math.max(left.length, right.length, 2) * rowHeight;
  const most = Math.max(...[...left, ...right].map(({ perMinute }) => perMinute), 1);
  const y = (index: number, count: number) => (height * (index + 0.5)) / count;
  const curve = (place: Place, index: number, count: number, side: 'in' | 'out') => {
    const at = y(index, count);
    const middle = height / 2 + (at - height / 2) * 0.12;
    return (
      <path
        key={place.key}
        data-tone={place.tone}
        data-flows={place.moves}
        strokeWidth={1.5 + 9 * Math.sqrt(place.perMinute / most)}
        d={
          side === 'in'
            ? `M0,${at} C28,${at} 26,${middle} 50,${middle}`
            : `M50,${middle} C74,${middle} 72,${at} 100,${at}`
        }
      />
    );
  };
  return (
    <Card title="Flow" aside={`width: changes per minute in the last ${span(periodMs)}; moving: now; colour: health`}>
      <div className="flow">
        <Column label="Partners" places={left} />
        <div className="flow-lines">
          <svg viewBox={`0 0 100 ${height}`} height={height} preserveAspectRatio="none" aria-hidden="true">
            {left.map((place, index) => curve(place, index, left.length, 'in'))}
            {right.map((place, index) => curve(place, index, right.length, 'out'))}
          </svg>
          <span className="flow-centre">
            <Mark />
          </span>
        </div>
        <Column label="Destinations" places={right} right />
      </div>
    </Card>
  );
}

function Column(props: { label: string; places: readonly Place[]; right?: boolean }): ReactNode {
  return (
    <ul className="flow-places" data-right={props.right} aria-label={props.label}>
      {props.places.map(({ key, label, tone, detail, to }) => (
        <li key={key} data-tone={tone}>
          <Link to={to}>{label}</Link>
          <span className="muted small">{detail}</span>
        </li>
      ))}
    </ul>
  );
}

type Rate = (count: number) => number;

function partners({ health, causes }: Overview, rateOf: Rate): Place[] {
  const rows =
    health.length <= mostPlaces
      ? health.map((brand) => ({ label: brand.integration, brands: [brand] }))
      : [...Map.groupBy(health, ({ connector }) => connector)].map(([label, brands]) => ({ label, brands }));
  const places = rows
    .map(({ label, brands }): Place & { bad: number } => {
      const sick = brands.toSorted((a, b) => worst[b.state] - worst[a.state])[0];
      const changesPerMinute = rateOf(brands.reduce((sum, { changes }) => sum + changes, 0));
      const cause = causes.find(
        (one) => !one.cause.startsWith('destination:') && sick?.findings.some((finding) => isOf(one, finding)),
      );
      const isOne = brands.length === 1;
      return {
        key: label,
        label,
        tone: toneOf(sick?.state ?? 'healthy'),
        perMinute: changesPerMinute,
        moves: brands.some(({ moves }) => moves),
        detail: `${isOne ? '' : `${plural(brands.length, 'brand')}, `}${rate(changesPerMinute)}`,
        to: cause
          ? `/incidents/${cause.incident_id}`
          : isOne
            ? `/integrations/${encodeURIComponent(brands[0]?.integration ?? '')}`
            : '/integrations',
        bad: worst[sick?.state ?? 'healthy'],
      };
    })
    .toSorted((a, b) => b.bad - a.bad || b.perMinute - a.perMinute || a.label.localeCompare(b.label));
  return fitting(places, '/integrations', rate);
}

function destinations({ health, causes }: Overview, rateOf: Rate): Place[] {
  const lanes = health.flatMap((brand) => brand.lanes.map((lane) => ({ ...lane, changes: brand.changes })));
  const places = [...Map.groupBy(lanes, ({ destination }) => destination)]
    .map(([label, mine]): Place => {
      const waiting = mine.reduce((sum, lane) => sum + lane.waiting, 0);
      const held = mine.reduce((sum, lane) => sum + lane.held, 0);
      const changesPerMinute = rateOf(
        mine.reduce((sum, lane) => sum + (lane.failing || lane.preview ? 0 : lane.changes), 0),
      );
      const cause = causes.find(({ kind, cause }) => cause === `destination:${label}` || kind === 'role_missing');
      const isFailing = mine.some(({ failing }) => failing) || cause?.severity === 'critical';
      return {
        key: label,
        label,
        tone: isFailing ? 'bad' : cause || held > 0 ? 'warn' : mine.some(({ moves }) => moves) ? 'good' : 'calm',
        perMinute: changesPerMinute,
        moves: !isFailing && mine.some(({ moves }) => moves),
        detail: `${mine.every(({ preview }) => preview) ? 'in preview, ' : ''}${backlogOf(waiting, held)}`,
        to: cause ? `/incidents/${cause.incident_id}` : '/destinations',
      };
    })
    .toSorted((a, b) => urgency(b) - urgency(a) || a.label.localeCompare(b.label));
  return fitting(places, '/destinations', () => 'see all');
}

/** The most urgent come first; what does not fit is one place. */
function fitting(places: readonly Place[], to: string, detail: (perMinute: number) => string): Place[] {
  if (places.length <= mostPlaces) return [...places];
  const rest = places.slice(mostPlaces - 1);
  const perMinute = rest.reduce((sum, place) => sum + place.perMinute, 0);
  const moves = rest.some((place) => place.moves);
  const label = plural(rest.length, 'other');
  const tone = rest[0]?.tone ?? 'calm';
  return [
    ...places.slice(0, mostPlaces - 1),
    { key: 'others', label, tone, perMinute, moves, detail: detail(perMinute), to },
  ];
}

const urgency = ({ tone }: Place): number => ['warn', 'bad'].indexOf(tone);

const backlogOf = (waiting: number, held: number): string =>
  [held > 0 && `${number(held)} blocked`, waiting > 0 && `${number(waiting)} waiting`].filter(Boolean).join(', ') ||
  'nothing waits';

const rate = (perMinute: number): string =>
  perMinute === 0 ? 'nothing' : `${perMinute < 10 ? perMinute.toFixed(1) : number(Math.round(perMinute))}/min`;
