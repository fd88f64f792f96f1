import type { Http } from '../../core/outbound/http.ts';
import { withoutCards } from './cards.ts';

/**
 * The client for partners' data: card numbers are removed from every answer before anything reads it. Only data longer than `leavesAbove`
 * passes as it is, for a reader that removes them in its own thread.
 */
export function httpWithoutCards(http: Http, leavesAbove = Number.POSITIVE_INFINITY): Http {
  return {
    request: async (exchange) => {
      const answered = await http.request(exchange);
      if (answered.kind === 'failed') return answered;
      if (answered.status < 300 && answered.bytes.length > leavesAbove) return answered;
      const { buffer, byteOffset, byteLength } = answered.bytes;
      const { bytes, cards } = withoutCards(Buffer.from(buffer, byteOffset, byteLength));
      return cards === 0 ? answered : { ...answered, bytes };
    },
    close: () => http.close(),
  };
}
