import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../api/query.tsx';
import { useSeesAllBrands } from '../shell/session.ts';

/** To the studio, with the payload of a dead letter as the sample. Nothing for those who may not change connectors. */
export function StudioLink(props: { integration: string; letter: string; children: ReactNode }) {
  const { integration, letter } = props;
  const all = useSeesAllBrands();
  const brand = useApi('integrations.get', { integration }, { staleMs: 30_000, retry: false, enabled: all });
  if (!all || brand.data === undefined) return null;
  return (
    <Link to="/studio" search={{ connector: brand.data.connector, letter }}>
      {props.children}
    </Link>
  );
}
