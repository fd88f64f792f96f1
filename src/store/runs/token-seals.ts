import { type Keyring, open, seal } from '../../kit/crypto.ts';

/** Seals the texts of a partner's credentials. A sealed text opens only for the integration and the purpose it was made for. */
export class TokenSeals {
  readonly #keyring: Keyring;

  constructor(keyring: Keyring) {
    this.#keyring = keyring;
  }

  seal(integration: string, what: string, text: string): Buffer {
    return seal(this.#keyring, text, about(integration, what));
  }

  /** Undefined if it does not open with the keys of this node. */
  open(integration: string, what: string, bytes: Uint8Array): string | undefined {
    const opened = open(this.#keyring, bytes, about(integration, what));
    return opened.kind === 'ok' ? opened.plaintext.toString('utf8') : undefined;
  }
}

const about = (integration: string, what: string) => `partner token ${integration} ${what}`;
