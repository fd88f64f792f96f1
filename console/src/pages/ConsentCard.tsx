import { Button } from '@mantine/core';
import { useState } from 'react';
import { type Answer, call } from '../api/client.ts';
import { useAct, useApi } from '../api/query.tsx';
import { Card, Notice, RelativeTime } from '../parts/basics.tsx';
import { consentGiven } from '../parts/claims.ts';
import { Copyable } from '../parts/data.tsx';
import { useMay } from '../shell/session.ts';

/** OAuth 2 by authorization code: the link for the person who consents, and whether they have. */
export function ConsentCard({ integration }: { integration: string }) {
  const admin = useMay('admin');
  const [link, setLink] = useState<Answer<'integrations.consent'>>();
  const brand = useApi(
    'integrations.get',
    { integration, hours: 1 },
    { everyMs: (answer) => (link && answer?.consent !== 'given' ? 1_000 : false) },
  );
  const make = useAct(
    () => call('integrations.consent', { integration }),
    (made) => {
      setLink(made);
      return undefined;
    },
  );
  const consent = brand.data && consentGiven(brand.data);
  const given = consent?.tone === 'good';
  return (
    <Card title="Consent">
      <div className="stack">
        {consent && !given && <Notice tone={consent.tone} title={consent.text} />}
        {consent && given ? (
          <Notice tone={consent.tone} role="status" title={consent.text}>
            Tokens are refreshed before they expire. A new link is needed only if the brand withdraws its consent.
          </Notice>
        ) : (
          <p>
            Someone at the brand must consent once, in the partner’s system. Send them a link. Nothing is pulled until
            then.
          </p>
        )}
        {link && !given && (
          <>
            <Copyable text={link.url} label="consent link" />
            <p className="small muted" role="status">
              It works once and expires <RelativeTime at={link.expires_at} />. This page updates when consent is given.
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
              {given ? 'Ask for consent again' : link ? 'Create another link' : 'Create the link'}
            </Button>
          </div>
        )}
      </div>
    </Card>
  );
}
