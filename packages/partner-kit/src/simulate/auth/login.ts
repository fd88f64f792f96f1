import { type Answer, bodyObject, type Exchange, json, problem } from '../exchange.ts';
import { type Guard, sameText } from './guard.ts';
import type { LoginSettings } from './method.ts';

/** A login call: POST /auth/login with user and password answers with a token for a header. */
export class LoginServer {
  readonly #settings: LoginSettings;
  readonly #now: () => number;
  /** Token to the moment it expires. */
  readonly #tokens = new Map<string, number>();
  #issued = 0;

  constructor(settings: LoginSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Undefined for other paths. */
  handle({ method, path, bodyText }: Exchange): Answer | undefined {
    if (path !== '/auth/login') return undefined;
    if (method !== 'POST') return problem(405, 'method_not_allowed', 'Use POST.', { allow: 'POST' });
    const { user, password } = bodyObject(bodyText) ?? {};
    const { lifetimeSeconds = 300 } = this.#settings;
    const right = sameText(String(user), this.#settings.user) && sameText(String(password), this.#settings.password);
    if (!right) return problem(401, 'unauthorized', 'User or password is wrong.');
    this.#issued += 1;
    const token = `login-${this.#issued}`;
    this.#tokens.set(token, this.#now() + lifetimeSeconds * 1000);
    return json(200, { token, expires_in: lifetimeSeconds });
  }

  readonly guard: Guard = ({ headers }) => {
    const { header = 'authorization' } = this.#settings;
    const token = (headers[header.toLowerCase()] ?? '').replace(/^Bearer /i, '');
    if (token === '') return `The token in ${header} is missing.`;
    return (this.#tokens.get(token) ?? 0) > this.#now() ? undefined : 'The token is unknown or has expired.';
  };

  expireAll(): void {
    this.#tokens.clear();
  }
}
