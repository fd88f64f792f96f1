import { serveTasks } from '../../src/kit/offload-worker.ts';
import { withoutCards } from '../../src/operator/privacy/cards.ts';

/** For cards.test.ts: reads texts that could make the search for cards hang. */
serveTasks(new Map([['withoutCards', (text: string) => withoutCards(Buffer.from(text)).cards]]));
