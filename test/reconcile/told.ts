import type { Accounts, Claims } from '../../src/core/reconcile/claim.ts';
import { placed } from '../../src/core/reconcile/claims.ts';
import type { Content, Scope, Source, Time } from '../../src/core/reconcile/content.ts';
import { foldAll } from '../../src/core/reconcile/quarantine.ts';

/** What a source says at some time, for tests of the pure rooms. */
export interface Told {
  readonly source: Source;
  readonly at: Time;
  readonly content: Content;
  readonly scope: Scope;
  readonly isPerson?: true;
}

export const withTold = (claims: Claims, { source, ...claim }: Told): Claims => ({
  ...claims,
  [source]: placed(claims[source] ?? [], claim).log,
});

export const accountsOf = (claims: Claims): Accounts => foldAll(claims, [], 0).accounts;

export const accountsAfter = (all: readonly Told[]): Accounts => accountsOf(all.reduce(withTold, {} as Claims));
