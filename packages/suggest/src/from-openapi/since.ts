import { wordsOf } from '../words.ts';
import type { Operation, Parameter, Proposed } from './model.ts';
import { typeOf } from './schema.ts';
import { isDate } from './window.ts';

const changeWords = /^(?:modif\w*|updat\w*|chang\w*|edit\w*)$/;
const startWords = new Set(['since', 'from', 'after', 'start', 'gte', 'gt', 'min']);

export interface SinceParameter {
  readonly parameter: Parameter;
  readonly value: string;
  /** A day begins at different moments at the property, in UTC and at the partner: ask for one day more. */
  readonly overlap?: '1d';
}

/** The parameter of a list by modification time: modifiedSince, updated_after, lastChangeFrom. */
export function findSince({ parameters }: Operation): Proposed<SinceParameter> | undefined {
  const found = parameters
    .filter((one) => one.in === 'query' || one.in === 'body')
    .flatMap((parameter) => {
      const words = wordsOf(parameter.name.replaceAll('.', ' '));
      const isStart = words.some((word) => startWords.has(word));
      const isChange = words.some((word) => changeWords.test(word));
      const isAlone = words.includes('since') && /modif|updat|chang/i.test(parameter.about);
      const type = typeOf(parameter.schema);
      const isTime = isDate(parameter) || type === 'integer' || type === 'number' || words.includes('since');
      return (isChange && isStart) || isAlone ? [{ parameter, isTime }] : [];
    })
    .filter(({ isTime }) => isTime)
    .toSorted((a, b) => Number(b.parameter.required) - Number(a.parameter.required))[0];
  if (found === undefined) return undefined;
  const { parameter } = found;
  const { format } = parameter.schema;
  const isNumber = typeOf(parameter.schema) === 'integer' || typeOf(parameter.schema) === 'number';
  const unit = /\bmilli|\bms\b/i.test(parameter.about) ? 'ms' : 's';
  const value = isNumber ? `{since:epoch_${unit}}` : format === 'date' ? '{since:YYYY-MM-DD}' : '{since}';
  return {
    value: { parameter, value, ...(!isNumber && format === 'date' && { overlap: '1d' }) },
    confidence: 0.85,
    reason: `${parameter.name} asks for what changed since a moment; one sync is enough`,
  };
}
