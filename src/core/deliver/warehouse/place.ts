export interface Place {
  readonly host: string;
  readonly port: number | undefined;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly isLoopback: boolean;
}

/** The parts of scheme://user:password@host:port/database, percent-decoded. */
export function placeOf(url: string): Place {
  const { hostname, port, username, password, pathname } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    host,
    port: port === '' ? undefined : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    isLoopback: host === 'localhost' || host === '::1' || /^127\./.test(host),
  };
}
