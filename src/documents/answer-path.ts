import { jsonPathSteps } from '../kit/json-path.ts';
import { checkedText, type Finding } from './checked.ts';

const examples = 'such as meta.next, links[0].href or paging["next.token"]';

/** A path to one value of an answer or of a row; `several`: to every value it finds. */
export function checkAnswerPath(text: string, several = false): Finding | undefined {
  const steps = jsonPathSteps(text);
  if (steps === undefined) return { message: `is not a path ${examples}` };
  const [first] = steps;
  if (first?.key?.startsWith('$') === true && /^\$\w*$/.test(first.key)) {
    const suggestion = text.slice(first.key.length + 1);
    return {
      message: `starts with ${first.key}, which has no meaning here; quote a key that begins with $`,
      ...(suggestion !== '' && { suggestion }),
    };
  }
  const isEach = steps.some(({ key }) => key === undefined);
  return isEach && !several ? { message: 'names every item of a list; name one, such as [0] or [-1]' } : undefined;
}

export const answerPath = () => checkedText(`a path ${examples}`, (text) => checkAnswerPath(text)).min(1);
/** Ids in the rows: the path may pass through lists. */
export const idsPath = () => checkedText('a path such as guests[].id', (text) => checkAnswerPath(text, true)).min(1);
