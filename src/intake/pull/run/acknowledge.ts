import type { PullSettings, RequestTemplate } from '../../../documents/pull.ts';
import { type Asker, noAskCounts } from '../../../outbound/ask/ask.ts';
import type { AskCounts } from '../../../outbound/ask/asked.ts';
import { openRequest } from '../../../outbound/ask/request.ts';
import { repeatForIds, usesId, type Values } from '../../../outbound/ask/template.ts';
import type { JsonObject } from '../../../terms.ts';

/** Acknowledges stored records to the partner. A failure does not fail the run; its end reports it. */
export class Acknowledger {
  readonly #template: RequestTemplate;
  readonly #settings: PullSettings;
  readonly #asker: Asker;
  #firstFailure: { readonly code: 'pull.not_acknowledged'; readonly message: string } | undefined;

  constructor(template: RequestTemplate, settings: PullSettings, asker: Asker) {
    this.#template = template;
    this.#settings = settings;
    this.#asker = asker;
  }

  get firstFailure() {
    return this.#firstFailure;
  }

  /** Returns the counts of the requests. */
  async acknowledge(ids: ReadonlySet<string>): Promise<AskCounts> {
    const { base_url: baseUrl, brandId } = this.#settings;
    const counts = noAskCounts();
    for (const { template, values } of callsFor(this.#template, [...ids], brandId)) {
      const request = openRequest(template, baseUrl, values);
      const asked = await this.#asker.ask(request, { canShrink: false, firstPage: true, counts, hasRows: () => false });
      if (asked.kind === 'answer' || asked.kind === 'stopped') continue;
      const message = asked.kind === 'park' ? `waiting for the partner (${asked.reason})` : asked.message;
      this.#firstFailure ??= { code: 'pull.not_acknowledged', message };
    }
    return counts;
  }
}

/** The calls that acknowledge a page: one for all its ids, or one per id if {id} is used outside a list. */
function callsFor(
  template: RequestTemplate,
  ids: readonly string[],
  brandId: string,
): { readonly template: RequestTemplate; readonly values: Values }[] {
  if (ids.length === 0) return [];
  const body = template.body && (repeatForIds(template.body, ids) as JsonObject);
  const call = body === undefined ? template : { ...template, body };
  const all = { ids: [...ids], 'ids.joined': ids.join(','), brand_id: brandId };
  const isForEach = [call.path, call.query, body, call.headers].some((part) => usesId(part));
  return isForEach ? ids.map((id) => ({ template: call, values: { ...all, id } })) : [{ template: call, values: all }];
}
