import type { Transaction } from './transaction.ts';

/** The connection between a node and the store. The simulation delays, loses and cuts its messages. */
export interface Link {
  /** One statement, or several that the store runs at once. */
  call<T>(name: string, statement: () => T): Promise<T>;
  /** A transaction is rolled back when its node dies. */
  begin(open: () => Transaction): Promise<Transaction>;
}

export const directLink: Link = {
  call: async (_name, statement) => statement(),
  begin: async (open) => open(),
};
