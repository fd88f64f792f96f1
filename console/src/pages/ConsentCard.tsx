import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get, part, post } from '../api/client.ts';
import type { IntegrationDetail } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { Ago, Card, Notice } from '../parts/basics.tsx';
import { Copyable } from '../parts/data.tsx';
import { useMay } from '../shell/session.ts';

/** OAuth 2 with somebody's consent: the link for that person, and whether the partner lets us in by now. */
export function ConsentCard({ integration }: { integration: string }) {
  const admin = useMay('admin');
  const path = `/integrations/${part(integration)}`;
  const [link, setLink] = useState<{ url: string; expires_at: string }>();
  const brand = useQuery({
    queryKey: ['integrations', integration, 'consent'],
    queryFn: ({ signal }) => get<IntegrationDetail>(path, { hours: 1 }, signal),
    refetchInterval: ({ state }) => (link && state.data?.consent !== 'given' ? 1_000 : false),
  });
  const make = useAct(
    () => post<{ url: string; expires_at: string }>(`${path}/consent`),
    (made) => {
      setLink(made);
      return undefined;
    },
  );
  const given = brand.data?.consent === 'given';
  return (
    <Card title="Consent">
      <div className="stack">
        {given ? (
          <Notice tone="good" role="status" title="The partner lets us in">
            Tokens are renewed before they end. A new link is needed only when the brand takes its consent back.
          </Notice>
        ) : (
          <p>
            Somebody of the brand has to allow it once, at the partner. Send them a link; until then nothing is pulled.
          </p>
        )}
        {link && !given && (
          <>
            <Copyable text={link.url} label="consent link" />
            <p className="small muted" role="status">
              It works once and ends <Ago at={link.expires_at} />. This page says so when consent is there.
            </p>
          </>
        )}
        {admin && (
          <div>
            <Button
              variant={given ? 'default' : 'filled'}
              size={given ? 'xs' : 'sm'}
              onClick={() => make.mutate(undefined)}
              loading={make.isPending}
            >
              {given ? 'Ask for consent anew' : link ? 'Make another link' : 'Make the link'}
            </Button>
          </div>
        )}
      </div>
    </Card>
  );
}
