import pg from 'pg';

/**
 * A database on several hosts, one of which accepts writes: postgres://user@one:5432,two:5432/name, in libpq's syntax. The driver
 * supports one host only, so the pool tries the hosts in turn and stays with the one that accepts writes. After a failover its
 * connections break, and new ones find the new primary.
 */

interface Hosts {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** Settings shared by all hosts. */
  readonly rest: pg.PoolConfig;
}

const authority = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]+)(.*)$/;

/** The hosts of a URL that names several; undefined if it names one. */
export function readHosts(url: string): Hosts | undefined {
  const [, before, list, after] = authority.exec(url) ?? [];
  if (before === undefined || list === undefined || !list.includes(',')) return undefined;
  const hosts = list.split(',').map((entry) => {
    const [, host = entry, port = '5432'] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
    return { host: decodeURIComponent(host.replace(/^\[(.*)\]$/, '$1')), port: Number(port) };
  });
  const first = hosts[0];
  if (!first) return undefined;
  const parsed = new URL(`${before}placeholder${after}`);
  // A libpq parameter that the driver does not support; this pool always looks for the primary.
  parsed.searchParams.delete('target_session_attrs');
  const search = parsed.searchParams.toString();
  const rest = { connectionString: `${before}placeholder${parsed.pathname}${search === '' ? '' : `?${search}`}` };
  return { hosts, rest };
}

type Callback = (error: Error | undefined, client?: pg.PoolClient, done?: (release?: unknown) => void) => void;

export class HostsPool extends pg.Pool {
  readonly #hosts: Hosts['hosts'];
  #current = 0;

  constructor({ hosts, rest }: Hosts, config: pg.PoolConfig) {
    const parsed = new pg.Client(rest as pg.ClientConfig);
    const { user, password, database } = parsed;
    super({ ...config, ...(user && { user }), ...(password && { password }), ...(database && { database }) });
    this.#hosts = hosts;
    this.#point();
  }

  #point(): void {
    const target = this.#hosts[this.#current % this.#hosts.length];
    Object.assign(this.options, target);
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    const host = this.#find();
    if (!callback) return host;
    host.then(
      (client) => callback(undefined, client, (release) => client.release(release as boolean)),
      (error: Error) => callback(error),
    );
    return undefined;
  }

  async #find(): Promise<pg.PoolClient> {
    let failure: unknown;
    for (let tries = 0; tries < this.#hosts.length; tries++) {
      const asked = this.#current;
      try {
        const client = await super.connect();
        const isPrimary = await acceptsWrites(client).catch((error: unknown) => {
          client.release(true);
          throw error;
        });
        if (isPrimary) return client;
        client.release(true);
        failure = new Error('No host of DATABASE_URL accepts writes.');
      } catch (error) {
        failure = error;
      }
      // Another caller may have switched hosts while this one was waiting.
      if (this.#current === asked) {
        this.#current += 1;
        this.#point();
      }
    }
    throw failure;
  }
}

const known = new WeakSet<pg.PoolClient>();

/** Checked once per connection: a primary that is demoted closes its connections. */
async function acceptsWrites(client: pg.PoolClient): Promise<boolean> {
  if (known.has(client)) return true;
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only !== 'off') return false;
  known.add(client);
  return true;
}
