import { expect, test } from 'vitest';
import { cssOf } from '../src/screens/agents/palette';

test('a terminal has sixteen colors, a cube of 216, and 24 greys', () => {
  expect(cssOf(undefined)).toBeUndefined();
  expect(cssOf(1)).toBe('#f08b83');
  expect(cssOf(16)).toBe('rgb(0 0 0)');
  expect(cssOf(196)).toBe('rgb(255 0 0)');
  expect(cssOf(231)).toBe('rgb(255 255 255)');
  expect(cssOf(232)).toBe('rgb(8 8 8)');
  expect(cssOf(255)).toBe('rgb(238 238 238)');
  expect(cssOf([1, 2, 3])).toBe('rgb(1 2 3)');
});
