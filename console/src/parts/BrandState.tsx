import type { Overview } from '../api/types.ts';
import { State } from './basics.tsx';

/** A brand whose deliveries wait for their release is not paused: it pulls, and receives events. */
export function BrandState({ brand }: { brand: Pick<Overview['health'][number], 'state' | 'findings'> }) {
  const [first] = brand.findings;
  const isPreview = brand.state === 'paused' && first?.action === 'release';
  return <State of={brand.state} {...(isPreview && { label: 'In preview' })} />;
}
