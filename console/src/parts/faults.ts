import type { Overview } from '../api/types.ts';
import { number } from './format.ts';

export type Cause = Overview['causes'][number];
type Brand = Overview['health'][number];
type Finding = Brand['findings'][number];

/** Whether a cause that is known states what a brand's finding states: its own, or the same of many brands. */
export const isOf = (cause: Cause, finding: Finding): boolean =>
  cause.cause === finding.cause || (cause.cause.startsWith('brands:') && cause.kind === finding.kind);

/** What is found for a brand beyond the causes that are known. */
export const uncovered = ({ findings }: Brand, causes: readonly Cause[]): Finding[] =>
  findings.filter((finding) => !causes.some((cause) => isOf(cause, finding)));

export interface Faults {
  /** What concerns everything, such as no worker: the others may be its effects. */
  readonly everywhere: readonly Cause[];
  readonly causes: readonly Cause[];
  /** Found a moment ago, each cause once: the alerts, and with them the incidents, follow within a minute. */
  readonly found: readonly { readonly message: string; readonly brands: readonly string[] }[];
  /** How many things are wrong: in the title, the badge and the first sentence. */
  readonly count: number;
}

export const thingsWrong = (count: number): string =>
  count === 1 ? 'One thing is wrong' : `${number(count)} things are wrong`;

/** A partner who waits for an answer is nothing wrong. */
export const isFault = ({ kind }: Cause): boolean => kind !== 'partner_waiting';

export function faultsOf({ health, causes: all }: Pick<Overview, 'health' | 'causes'>): Faults {
  const faults = health.flatMap((brand) =>
    uncovered(brand, all)
      .filter(({ state }) => state === 'failing' || state === 'auth_failed')
      .map(({ cause, message }) => ({ cause, message, brand: brand.integration })),
  );
  const found = [...Map.groupBy(faults, ({ cause }) => cause).values()].map((group) => ({
    message: [...new Set(group.map(({ message }) => message))].join(' '),
    brands: [...new Set(group.map(({ brand }) => brand))],
  }));
  const causes = all.filter(isFault);
  const everywhere = causes.filter(({ everything }) => everything);
  const count = causes.length + found.length;
  return { everywhere, causes: causes.filter(({ everything }) => !everything), found, count };
}
