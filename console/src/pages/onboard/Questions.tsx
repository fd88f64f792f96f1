import { Button } from '@mantine/core';
import { Card } from '../../parts/basics.tsx';
import { capital, plural, words } from '../../parts/format.ts';
import { answered, questionsIn } from './questions.ts';

/** What the proposal is not sure of. It is changed in the form or in the text; a guess that is right is confirmed here. */
export function Questions({ text, onText }: { text: string; onText: (text: string) => void }) {
  const questions = questionsIn(text);
  if (questions.length === 0) return null;
  return (
    <Card
      title="Is this right?"
      aside={`${plural(questions.length, 'guess', 'guesses')} that the answer does not settle`}
    >
      <ul className="questions">
        {questions.map((question) => (
          <li key={question.line}>
            <span>
              <b>{capital(words(question.key))}</b> <code>{question.value}</code>
              <span className="small muted"> {capital(question.reason)}.</span>
            </span>
            <Button size="xs" variant="default" onClick={() => onText(answered(text, question))}>
              Right
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
