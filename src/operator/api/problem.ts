import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemType } from '../../core/intake/push/answer.ts';
import { type ErrorCode, errors } from '../../errors.ts';
import type { Json } from '../../terms.ts';

/** Sends an RFC 9457 problem with our stable code, never the payload that caused it. */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  code: ErrorCode,
  more: { detail?: string; [key: string]: Json | undefined } = {},
): FastifyReply {
  return reply
    .code(status)
    .type(problemType)
    .send(
      JSON.stringify({
        type: `urn:innbound:error:${code}`,
        title: errors[code].what,
        status,
        code,
        request_id: request.id,
        ...more,
      }),
    );
}
