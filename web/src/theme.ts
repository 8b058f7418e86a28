import { type CSSVariablesResolver, createTheme, Modal, Tooltip } from '@mantine/core';

/**
 * The values are in styles/theme.css: the content security policy allows no style elements, so Mantine's variables come
 * from files. For the same reason pages use no style properties that change with the width (`w={{ base, sm }}`), no
 * AppShell, no SimpleGrid: the classes under styles/ do that.
 */
export const theme = createTheme({
  primaryShade: { light: 8, dark: 8 },
  cursorType: 'pointer',
  components: {
    Modal: Modal.extend({
      defaultProps: {
        lockScroll: false,
        centered: true,
        padding: 'lg',
        // Its header element would be a second banner of the page for screen readers.
        attributes: { header: { role: 'presentation' } },
      },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { events: { hover: true, focus: true, touch: true } } }),
  },
});

export const noVariables: CSSVariablesResolver = () => ({ variables: {}, light: {}, dark: {} });
