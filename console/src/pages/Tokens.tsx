import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Empty, Head } from '../parts/basics.tsx';
import { AccessTable, Give } from './Access.tsx';

export function Tokens() {
  const [making, setMaking] = useState(false);
  return (
    <>
      <Head title="Tokens" lead="Programs with access to the API. Only hashes are stored: a token is shown once.">
        <Button onClick={() => setMaking(true)}>New token</Button>
      </Head>
      <AccessTable
        of="programs"
        empty={
          <Empty title="No active tokens" action={<Link to="/people">Invite a person</Link>}>
            A token is for a program. People get a sign-in link.
          </Empty>
        }
      />
      {making && <Give what="token" onClose={() => setMaking(false)} />}
    </>
  );
}
