import { AsyncLocalStorage } from 'node:async_hooks';

const holders = new AsyncLocalStorage<string>();

/**
 * Runs work on behalf of somebody, so that shared workers and queues can be divided fairly between holders. Not an argument: every
 * function between the door and the queue would have to pass it on, and the one that forgets it would work for nobody.
 */
export const onBehalfOf = <T>(holder: string, work: () => T): T => holders.run(holder, work);

/** Empty for the work of the service itself. */
export const holder = (): string => holders.getStore() ?? '';
