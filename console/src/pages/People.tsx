import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi } from '../api/query.tsx';
import { Card, Empty, Facts, Head } from '../parts/basics.tsx';
import { AccessTable, Give } from './Access.tsx';

/** Who may sign in to the console, with which role, for which brands. */
export function People() {
  const [inviting, setInviting] = useState(false);
  const ways = useApi('session.ways', {}, { staleMs: 60_000 }).data;
  return (
    <>
      <Head title="People" lead="Who is signed in or invited, with which role and for which brands.">
        <Button onClick={() => setInviting(true)}>Invite a person</Button>
      </Head>
      <div className="stack">
        <AccessTable
          of="people"
          empty={<Empty title="Nobody is signed in">A sign-in link works once and gives a role.</Empty>}
        />
        <Card title="Ways to sign in">
          <Facts
            facts={[
              ['Sign-in link', 'Invite a person: the link works once, for the role and the brands that you choose.'],
              [
                'OpenID Connect',
                <span key="oidc">
                  {ways?.oidc
                    ? `On (“${ways.oidc.label}”): the identity provider decides who gets which role and which brands.`
                    : 'Off.'}{' '}
                  <Link to="/documents/$kind/$name" params={{ kind: 'workspace', name: 'innbound' }}>
                    Settings
                  </Link>
                </span>,
              ],
            ]}
          />
        </Card>
      </div>
      {inviting && <Give what="link" onClose={() => setInviting(false)} />}
    </>
  );
}
