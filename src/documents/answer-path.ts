import { parseAnswerPath } from '../json-path/read.ts';
import { checkedText, type Finding } from './checked.ts';

const examples = 'such as meta.next, links[0].href or paging["next.token"]';
const starts: ReadonlySet<string> = new Set(['$body', '$item', '$record']);

/** A path to one value of an answer or of a row; `several`: to every value it finds. */
export function checkAnswerPath(text: string, several = false): Finding | undefined {
  const [word] = /^\$\w*/.exec(text) ?? [];
  if (word !== undefined && !starts.has(word)) {
    const suggestion = text.slice(word.length + 1);
    return {
      message: `starts with ${word}, which has no meaning here; quote a key that begins with $`,
      ...(suggestion !== '' && { suggestion }),
    };
  }
  const parsed = parseAnswerPath(text);
  if (parsed.kind === 'bad') return { message: `is not a path ${examples}: ${parsed.message}`, offset: parsed.offset };
  const isEach = parsed.path.steps.some(({ kind }) => kind === 'each');
  return isEach && !several ? { message: 'names every item of a list; name one, such as [0] or [-1]' } : undefined;
}

/** `min` reports an empty text. */
const unlessEmpty = (several: boolean) => (text: string) => (text === '' ? undefined : checkAnswerPath(text, several));

export const answerPath = () => checkedText(`a path ${examples}`, unlessEmpty(false)).min(1);
/** Ids in the rows: the path may pass through lists. */
export const idsPath = () => checkedText('a path such as guests[].id', unlessEmpty(true)).min(1);
