import { SegmentedControl } from '@mantine/core';

/** One of a few, all in view. */
export function Choice<Value extends string>(props: {
  label: string;
  options: Readonly<Record<Value, string>>;
  value: Value;
  onChange: (value: Value) => void;
  /** For the head of a page. */
  small?: boolean;
}) {
  const options = Object.entries(props.options) as [Value, string][];
  return (
    <SegmentedControl
      {...(props.small && { size: 'xs' })}
      data={options.map(([value, label]) => ({ value, label }))}
      value={props.value}
      onChange={props.onChange}
      aria-label={props.label}
    />
  );
}
