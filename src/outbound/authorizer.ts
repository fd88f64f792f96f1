/** A complete request, without credentials or with them. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Adds credentials to requests. */
export interface Authorizer {
  /** The request with its credentials, for one attempt. */
  authorize(request: Outgoing): Promise<{ kind: 'ok'; request: Outgoing } | { kind: 'failed'; message: string }>;
  /** Reports that the credentials of a request from `authorize` were refused; true if asking again may return new ones. */
  refused(request: Outgoing): Promise<boolean>;
}
