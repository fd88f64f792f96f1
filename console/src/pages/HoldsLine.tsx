import { Link } from '@tanstack/react-router';
import { useEvery } from '../api/live.ts';
import { useApi } from '../api/query.tsx';
import { Notice } from '../parts/basics.tsx';
import { plural } from '../parts/format.ts';
import { BrandLink } from '../parts/links.tsx';

/** One line on the overview, until the alert about it is one of the causes: what is held back as a mistake of a partner. */
export function HoldsLine() {
  const { data } = useApi('holds.list', { state: 'open' }, { everyMs: useEvery(5) });
  const [first] = data?.items ?? [];
  if (data === undefined || first === undefined) return null;
  const rows = data.items.reduce((sum, { waiting }) => sum + waiting, 0);
  const others = data.items.length - 1;
  return (
    <Notice tone="warn" title={`Values of ${plural(rows, 'booking')} held back as a partner’s mistake`}>
      <BrandLink name={first.integration} />: {first.message}
      {others > 0 && `, and ${plural(others, 'other hold')}`}.{' '}
      <Link to="/holds/$id" params={{ id: first.id }}>
        Decide
      </Link>
    </Notice>
  );
}
