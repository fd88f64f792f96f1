import {
  type CallLimits,
  type Codes,
  type Connection,
  EngineFailure,
  failureBy,
  type Row,
  type Said,
  type Statement,
} from './dialect.ts';

/** What a client library throws. */
export interface DriverError {
  readonly code?: string;
  readonly message?: string;
  readonly errno?: number;
  readonly number?: number;
  readonly sqlState?: string;
  readonly cause?: DriverError;
}

interface Session<Client> {
  /** `lost` is called when the connection ends by itself. */
  readonly connect: (limits: CallLimits, lost: () => void) => Promise<Client>;
  readonly run: (client: Client, statements: readonly Statement[], limits: CallLimits) => Promise<readonly Row[]>;
  readonly end: (client: Client) => Promise<void> | void;
  readonly codes: Codes;
  readonly said: (error: DriverError) => Omit<Said, 'message'>;
}

/**
 * One connection of a client library, made for the first call: the loader sends one call at a time. After a failure it is in doubt and not
 * used again; a transaction ends with it.
 */
export function oneSession<Client>({ connect, run, end, codes, said }: Session<Client>): Connection {
  let open: Promise<Client> | undefined;
  const lost = () => {
    open = undefined;
  };
  return {
    async run(statements, limits) {
      open ??= connect(limits, lost);
      const used = open;
      try {
        return await run(await used, statements, limits);
      } catch (error) {
        lost();
        void used.then(end).catch(() => {});
        throw error instanceof EngineFailure ? error : failureOf(error as DriverError);
      }
    },
    async close() {
      await open?.then(end).catch(() => {});
    },
  };

  function failureOf(error: DriverError): EngineFailure {
    const { message = '' } = error;
    const blocked = [error, error.cause].find((one) => one?.code === 'INNBOUND_BLOCKED_ADDRESS');
    if (blocked !== undefined) return new EngineFailure('blocked', blocked.message ?? '');
    const { code, name } = said(error);
    return failureBy(codes, { code, name, message }) ?? new EngineFailure('other', name);
  }
}
