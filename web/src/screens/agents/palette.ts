/** The colors of a terminal. The first sixteen can be read on its ground. */
import type { Color } from '../../api/types';

const FIRST = [
  '#8a93a3', '#f08b83', '#8fce8b', '#e7c264', '#82aaf2', '#d79be8', '#6cc9c9', '#d8d5cd',
  '#a4adbb', '#ffa79f', '#a9e0a5', '#f5d681', '#a3c2ff', '#e9b6f7', '#8adede', '#ffffff',
];
const STEPS = [0, 95, 135, 175, 215, 255];

/** A color as CSS; the terminal's own where there is none. */
export function cssOf(color: Color | 'ground' | 'text' | null | undefined): string | undefined {
  if (color === 'ground') return 'var(--terminal-ground)';
  if (color === 'text') return 'var(--terminal-text)';
  if (color === undefined || color === null) return undefined;
  if (Array.isArray(color)) return `rgb(${color.join(' ')})`;
  return FIRST[color] ?? (color < 232 ? cube(color - 16) : grey(color - 232));
}

function cube(place: number): string {
  const of = (unit: number) => STEPS[Math.floor(place / unit) % 6];
  return `rgb(${of(36)} ${of(6)} ${of(1)})`;
}

function grey(place: number): string {
  const light = 8 + 10 * place;
  return `rgb(${light} ${light} ${light})`;
}
