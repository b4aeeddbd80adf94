/** Colours that are set in style.css; further ones go round the wheel. */
const NAMED = 11;
/** Golden angle: neighbours differ. */
const STEP = 137.508;

/** A colour of the theme by its name in style.css. */
export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Colour of a line. */
export function seriesColor(index: number): string {
  if (index < NAMED) return themeColor(`s${index}`);
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  return `hsl(${Math.round(index * STEP) % 360} 60% ${isDark ? 68 : 36}%)`;
}
