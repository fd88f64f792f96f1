import type { Overview } from '../api/types.ts';
import { number } from './format.ts';

export type Cause = Overview['causes'][number];
type Brand = Overview['health'][number];
type Finding = Brand['findings'][number];

/** How bad each state is. */
export const worst: Readonly<Record<Brand['state'], number>> = {
  auth_failed: 5,
  failing: 4,
  attention: 3,
  paused: 2,
  new: 1,
  healthy: 0,
};

/** Whether a cause that is known states what a brand's finding states: its own, or the same of many brands. */
export const isOf = (cause: Cause, finding: Finding): boolean =>
  cause.cause === finding.cause || (cause.cause.startsWith('brands:') && cause.kind === finding.kind);

/** What is found for a brand beyond the causes that are known. */
export const uncovered = ({ findings }: Pick<Brand, 'findings'>, causes: readonly Cause[]): Finding[] =>
  findings.filter((finding) => !causes.some((cause) => isOf(cause, finding)));

interface Group {
  readonly causes: readonly Cause[];
  /** Found a moment ago, each cause once: the alerts, and with them the incidents, follow within a minute. */
  readonly found: readonly { readonly message: string; readonly brands: readonly string[] }[];
}

export interface Faults {
  /** What concerns everything, such as no worker: the others may be its effects. */
  readonly everywhere: Group;
  /** The worst of the others. */
  readonly shown: Group;
  /** The rest, so that the flow and the brands stay on the screen. */
  readonly folded: Group;
  /** How many things are wrong: in the title, the badge and the first sentence. */
  readonly count: number;
}

export const thingsWrong = (count: number): string =>
  count === 1 ? 'One thing is wrong' : `${number(count)} things are wrong`;

/** A partner who waits for an answer is nothing wrong. */
export const isFault = ({ kind }: Cause): boolean => kind !== 'partner_waiting';

export function faultsOf(data: {
  readonly health: readonly Pick<Brand, 'integration' | 'findings'>[];
  readonly causes: readonly Cause[];
}): Faults {
  const { health, causes: all } = data;
  const faults = health.flatMap((brand) =>
    uncovered(brand, all)
      .filter(({ state }) => state === 'failing' || state === 'auth_failed')
      .map(({ cause, message }) => ({ cause, message, brand: brand.integration })),
  );
  const found = [...Map.groupBy(faults, ({ cause }) => cause)].map(([cause, group]) => ({
    everything: cause.startsWith('service:'),
    message: [...new Set(group.map(({ message }) => message))].join(' '),
    brands: [...new Set(group.map(({ brand }) => brand))],
  }));
  const causes = all.filter(isFault);
  const everywhere = { causes: causes.filter(concernsAll), found: found.filter(concernsAll) };
  const others = { causes: causes.filter((one) => !concernsAll(one)), found: found.filter((one) => !concernsAll(one)) };
  const most = everywhere.causes.length + everywhere.found.length > 0 ? 0 : mostShown;
  const rest = Math.max(0, most - others.causes.length);
  return {
    everywhere,
    shown: { causes: others.causes.slice(0, most), found: others.found.slice(0, rest) },
    folded: { causes: others.causes.slice(most), found: others.found.slice(rest) },
    count: causes.length + found.length,
  };
}

const concernsAll = ({ everything }: { readonly everything: boolean }): boolean => everything;
const mostShown = 4;
