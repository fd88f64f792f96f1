import { createTheme, type MantineColorsTuple } from '@mantine/core';

const accent: MantineColorsTuple = [
  '#fbf3df',
  '#f2e2b9',
  '#e8d08f',
  '#e0bf6c',
  '#d9b15c',
  '#c99c40',
  '#b0832c',
  '#7c5a10',
  '#6a4c0c',
  '#543b06',
];

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 4 },
  colors: { accent },
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  headings: { fontFamily: 'var(--serif)' },
  defaultRadius: 6,
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'sm', variant: 'filled' } },
    Modal: {
      defaultProps: {
        centered: true,
        overlayProps: { backgroundOpacity: 0.6 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    Select: { defaultProps: { size: 'sm', allowDeselect: false, comboboxProps: { transitionProps: { duration: 0 } } } },
    TextInput: { defaultProps: { size: 'sm' } },
  },
});
