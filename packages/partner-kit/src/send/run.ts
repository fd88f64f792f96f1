import type { OutgoingEvent, SendResult, WebhookSenderOptions } from '../../../sender/src/index.ts';
import { WebhookSender } from '../../../sender/src/index.ts';
import type { Io } from '../io.ts';

export type SendTask =
  | { readonly kind: 'send'; readonly events: readonly OutgoingEvent[] }
  | { readonly kind: 'list' }
  | { readonly kind: 'replay'; readonly ids: readonly string[] | 'all' }
  | { readonly kind: 'drop'; readonly id: string };

/** Exit code 0 if everything succeeded; 1 if an event became a dead letter or a dead letter is unknown. */
export async function runSend(options: WebhookSenderOptions, task: SendTask, json: boolean, io: Io): Promise<number> {
  const sender = await WebhookSender.open({
    ...options,
    // Listing sends nothing.
    resume: task.kind === 'send' || task.kind === 'replay',
    observe: (seen) => {
      options.observe?.(seen);
      if (seen.kind === 'retry')
        io.say(`${seen.eventId}: ${seen.failure.message} Next attempt in ${(seen.delayMs / 1000).toFixed(1)} s.`);
    },
  });
  try {
    if (task.kind === 'list') return await list(sender, json, io);
    if (task.kind === 'drop') return (await sender.drop(task.id)) ? 0 : unknown(task.id, io);
    const results =
      task.kind === 'replay'
        ? await sender.replay(task.ids)
        : await Promise.all(task.events.map((event) => sender.send(event)));
    if (task.kind === 'replay' && task.ids !== 'all' && results.length < task.ids.length)
      io.say('Some dead letters are unknown; --list shows the existing ones.');
    for (const result of results) io.out(json ? JSON.stringify(result) : sentence(result));
    const wanted = task.kind === 'replay' && task.ids !== 'all' ? task.ids.length : results.length;
    return results.length === wanted && results.every(({ kind }) => kind === 'delivered') ? 0 : 1;
  } finally {
    // Opening the folder also resumes events that a crash left; wait for those too.
    await sender.drain();
    await sender.close();
  }
}

async function list(sender: WebhookSender, json: boolean, io: Io): Promise<number> {
  const letters = await sender.deadLetters();
  for (const { id, eventId, event, orderKey, attempts, failedAt, failure } of letters) {
    io.out(
      json
        ? JSON.stringify({ id, event_id: eventId, event, about: orderKey, attempts, failed_at: failedAt, failure })
        : `${id}  ${event}  ${orderKey}  ${attempts} tries, last ${failedAt}: ${failure.message}`,
    );
  }
  if (letters.length === 0) io.say('No dead letters.');
  return 0;
}

function unknown(id: string, io: Io): number {
  io.say(`There is no dead letter ${id}; --list shows the existing ones.`);
  return 1;
}

function sentence(result: SendResult): string {
  switch (result.kind) {
    case 'delivered':
      return `${result.eventId}  ${result.duplicate ? 'duplicate' : 'accepted'} (${result.status}, attempt ${result.attempts})`;
    case 'dead':
      return `${result.eventId}  dead after ${result.attempts} attempts: ${result.failure.message} Dead letter ${result.deadLetterId}.`;
    case 'pending':
      return `${result.eventId}  interrupted; it is sent when the folder is used again.`;
    case 'refused':
      return `${result.eventId}  not taken: ${result.why}`;
  }
}
