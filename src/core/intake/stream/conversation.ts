import { repeat, type Timers } from '../../../kit/clock.ts';
import { foreignText, isVocabulary } from '../../../kit/foreign-text.ts';
import { parseStrictJson, type StrictLimits } from '../../../kit/json.ts';
import { isObject, type Json } from '../../../terms.ts';
import type { OpenSocket } from '../../outbound/web-socket.ts';
import type { Opening } from './ports.ts';

/**
 * One connection in the protocol graphql-transport-ws:
 *
 *   open ─▶ connection_init ─▶ connection_ack ─▶ subscribe ─▶ next, next … ─▶ complete ─▶ closed by the server
 *
 * Pings go both ways. A server that sends neither an event nor a pong between two of our pings is gone, and the connection is cut. One that
 * sends much else, or does not read what we answer, is left: whatever it means, it costs more than its events are worth.
 */
export interface Conversation {
  readonly closed: Promise<Closed>;
  /** Sends `complete` and lets the server close. Events that are on their way still arrive. */
  leave(): void;
  /** Closes at once. */
  cut(): void;
  /** Stops reading while we are behind. */
  hold(isHeld: boolean): void;
}

export interface Closed {
  /** A close code, or the HTTP status of a server that did not accept a WebSocket. */
  readonly code: number;
  /** The server answered after the subscription: with an event or a pong. */
  readonly wasAlive: boolean;
  /** The words of an error with which the server refused the subscription, or why there was no connection. */
  readonly said?: string;
  /** What the server did too much of. */
  readonly excess?: string;
}

interface ConversationEvents {
  /** The payload of a message; `bytes` is its size. Undefined if it cannot be read. */
  readonly next: (payload: Json | undefined, bytes: number) => void;
  /** A ping was answered, and no event came in between: nothing is on its way. */
  readonly idle: () => void;
}

interface ConversationSettings {
  readonly openSocket: OpenSocket;
  readonly clock: Pick<Timers, 'schedule'>;
  readonly pingMs: number;
  readonly jsonLimits: StrictLimits;
}

const subscriptionId = '1';
const acknowledgedWithinMs = 15_000;
const leftWithinMs = 5_000;
/** Frames between two of our pings, or two events. Ordinary servers send a few; one event in so many parts is not one. */
const mostFrames = 500;
/** The close codes that the protocol gives to a client. */
const badMessage = 4400;

export function converse(
  { openSocket, clock, pingMs, jsonLimits }: ConversationSettings,
  { url, init, subscribe }: Opening,
  events: ConversationEvents,
): Conversation {
  const { promise: closed, resolve } = Promise.withResolvers<Closed>();
  let wasAlive = false;
  let isSubscribed = false;
  let failure: number | undefined;
  let said: string | undefined;
  /** Since our last ping. */
  let heard = true;
  let hadEvent = false;
  let frames = 0;
  let isHeld = false;
  let excess: string | undefined;
  let isEnding = false;
  let endPings = () => {};
  const end = (code?: number) => {
    failure ??= code;
    if (!isEnding) socket.close();
    isEnding = true;
  };
  const tooMuch = (what: string) => {
    excess ??= what;
    end(1008);
  };
  const send = (message: Json) => {
    if (!socket.send(JSON.stringify(message))) tooMuch('the partner does not read our answers');
  };
  const ping = () => {
    // What we do not read, we do not hear.
    if (isHeld) return undefined;
    if (!heard) return end(1006);
    heard = false;
    hadEvent = false;
    frames = 0;
    return send({ type: 'ping' });
  };
  const receive = (text: string) => {
    const parsed = parseStrictJson(Buffer.from(text), jsonLimits);
    const message = parsed.kind === 'ok' && isObject(parsed.value) ? parsed.value : undefined;
    if (message?.type === 'ping') return send({ type: 'pong' });
    if (message?.type === 'connection_ack' && !isSubscribed) {
      isSubscribed = true;
      send({ id: subscriptionId, type: 'subscribe', payload: subscribe });
      endPings = repeat(clock, pingMs, ping, { background: true });
      return undefined;
    }
    if (!isSubscribed) return undefined;
    if (message?.type === 'pong') {
      wasAlive = true;
      heard = true;
      if (!hadEvent) events.idle();
    } else if (message === undefined || message.type === 'next') {
      wasAlive = true;
      heard = true;
      hadEvent = true;
      if (message !== undefined) frames = 0;
      events.next(message?.payload, text.length);
    } else if (message.type === 'error') {
      said = wordsOf(message.payload, JSON.stringify(subscribe).match(/[\p{L}\p{N}]+/gu) ?? []);
      end(badMessage);
    } else if (message.type === 'complete') end();
    return undefined;
  };
  const socket = openSocket(url, 'graphql-transport-ws', {
    opened: () => send({ type: 'connection_init', payload: init }),
    frame: () => {
      frames += 1;
      if (frames > mostFrames) tooMuch(`more than ${mostFrames} messages without an event between two pings`);
    },
    text: receive,
    closed: (code, reason) => {
      if (code === 1006 && reason !== '') said ??= reason;
      endPings();
      cancel();
      resolve({
        code: failure ?? code,
        wasAlive,
        ...(said !== undefined && { said }),
        ...(excess !== undefined && { excess }),
      });
    },
  });
  const cancel = clock.schedule(acknowledgedWithinMs, () => isSubscribed || end(1006), { background: true });
  return {
    closed,
    leave() {
      if (!isSubscribed) return end();
      send({ id: subscriptionId, type: 'complete' });
      clock.schedule(leftWithinMs, () => end(), { background: true });
    },
    cut: () => end(),
    hold(isNow) {
      if (isNow === isHeld) return;
      isHeld = isNow;
      heard = true;
      socket.hold(isNow);
    },
  };
}

/** The first of GraphQL's errors. Words of our own subscription name what is wrong in it. */
function wordsOf(errors: Json | undefined, ours: readonly string[]): string | undefined {
  const first = Array.isArray(errors) ? errors[0] : errors;
  if (!isObject(first) || typeof first.message !== 'string') return undefined;
  return foreignText(first.message, (word) => isVocabulary(word) || ours.includes(word)) || undefined;
}
