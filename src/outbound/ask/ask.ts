import type { Json } from '../../terms.ts';
import { credentialsFor } from '../auth/credentials.ts';
import { AdmissionGate } from './admission.ts';
import { masked, wordsIn } from './answer.ts';
import type { AskCounts, Asked, AskerOptions, AskOptions } from './asked.ts';
import { Asking } from './asking.ts';
import type { AskPlan, AskPorts } from './ports.ts';
import type { OpenRequest } from './request.ts';

export function noAskCounts(): AskCounts {
  return { requests: 0, retries: 0, waitedMs: 0 };
}

export interface Asker {
  ask(request: OpenRequest, options: AskOptions): Promise<Asked>;
  /** The partner's own words in an answer that cannot be used, without credentials. */
  wordsIn(body: Json): string;
}

/** Sends requests to a partner with admission, credentials, deadlines, retries and waits. */
export function openAsker(ports: AskPorts, plan: AskPlan, options: AskerOptions): Asker {
  const credentials = credentialsFor(ports, plan);
  const gate = new AdmissionGate(ports, plan.settings);
  return {
    ask: (request, asked) => new Asking({ ports, plan, credentials, gate, options }, asked).run(request),
    wordsIn: (body) => masked(wordsIn(body), credentials.secrets()),
  };
}
