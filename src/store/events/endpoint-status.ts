import { type Pool, rowOf, type UnreadRow } from '../db/pool.ts';

type EndpointStatus = UnreadRow & { readonly endpoint_id: string; readonly sandbox_id: string | null };

/** The live endpoint of an integration and the state of its active secrets, never the secrets. */
export const endpointStatus = (db: Pool, integration: string): Promise<EndpointStatus | undefined> =>
  rowOf(db)(
    `select e.endpoint_id, s.endpoint_id as sandbox_id, e.issued_at,
            coalesce((select json_agg(json_build_object('secret_no', k.secret_no, 'issued_at', k.issued_at, 'expires_at', k.expires_at)
                                      order by k.secret_no desc)
               from endpoint_secrets k where k.endpoint_id = e.endpoint_id
                and (k.expires_at is null or k.expires_at > now())), '[]') as secrets,
            (select v.received_at from events v where v.integration = e.integration order by v.seq limit 1) as first_event_at,
            (select v.received_at from events v where v.integration = e.integration and v.event <> 'guest.feedback' order by v.seq desc limit 1) as last_event_at
       from endpoints e
       left join endpoints s on s.integration = e.integration and s.sandbox and s.retired_at is null
      where e.integration = $1 and not e.sandbox and e.retired_at is null`,
    [integration],
  );
