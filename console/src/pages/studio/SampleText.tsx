import { Textarea } from '@mantine/core';

export function SampleText(props: {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly height: number;
}) {
  return (
    <Textarea
      aria-label="Sample as JSON"
      placeholder="Paste a JSON response here"
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value)}
      styles={{ input: { fontFamily: 'var(--mono)', height: props.height, fontSize: 12.5 } }}
    />
  );
}
